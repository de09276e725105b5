// Package repo finds the files of this repository for tests, which run in the folder of
// their package.
package repo

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// Path is a file or folder of the repository, named from its root. The test fails if it
// runs outside.
func Path(t testing.TB, name string) string {
	t.Helper()
	path, err := Find(name)
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// Find is Path for who has no test.
func Find(name string) (string, error) {
	start, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for dir := start; ; dir = filepath.Dir(dir) {
		path := filepath.Join(dir, name)
		if _, err := os.Stat(path); err == nil {
			return path, nil
		}
		if dir == filepath.Dir(dir) {
			return "", fmt.Errorf("%s not found at or above %s: run the tests inside the repository", name, start)
		}
	}
}
