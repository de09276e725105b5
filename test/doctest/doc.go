// Package doctest keeps the documentation true: it finds the commands and links in
// Markdown, and plays the pages whose commands are meant to be followed.
//
// A fenced block of the language console is played: each line that begins with "$ " is a
// command for sh, and the lines up to the next one are its output. A line of "…" alone
// stands for any lines. A block "yaml NAME" is a file that the reader saves under that
// name. HTML comments, which readers do not see, direct the play:
//
//	<!-- notebook SECRET=PATH… -->  let there be a notebook with these mounts
//	<!-- setup SCRIPT -->           run the SCRIPT, which may have several lines
//	<!-- controller -->             let the Workspace controller run from here on
//	<!-- as PERSONA -->             be this user from here on
//	<!-- until TEXT -->             repeat the next command until its output holds TEXT
//
// What differs from run to run (ages, generated names, numbers of repeats) is compared
// without its value. With -update, outputs that differ are rewritten in the page.
package doctest
