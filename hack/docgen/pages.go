package main

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
)

// pages are generated files, of one extension, by name. A folder of theirs holds nothing
// else with that extension, but for README.md.
type pages struct {
	extension string
	text      map[string][]byte
}

// write makes dir hold the pages and removes those that are no more.
func (p pages) write(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	left, err := p.leftOver(dir)
	if err != nil {
		return err
	}
	for _, file := range left {
		if err := os.Remove(file); err != nil {
			return err
		}
	}
	for name, text := range p.text {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// compare tells how dir differs from the pages.
func (p pages) compare(dir string) error {
	var problems []error
	for _, name := range slices.Sorted(maps.Keys(p.text)) {
		file := filepath.Join(dir, name)
		present, err := os.ReadFile(file)
		switch {
		case err != nil:
			problems = append(problems, err)
		case !bytes.Equal(present, p.text[name]):
			problems = append(problems, fmt.Errorf("%s is out of date", file))
		}
	}
	left, err := p.leftOver(dir)
	for _, file := range left {
		problems = append(problems, fmt.Errorf("%s is generated no more", file))
	}
	if err := errors.Join(append(problems, err)...); err != nil {
		return fmt.Errorf("run make generate:\n%w", err)
	}
	return nil
}

// leftOver are the files in dir that look like pages and are none.
func (p pages) leftOver(dir string) ([]string, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*"+p.extension))
	return slices.DeleteFunc(files, func(file string) bool {
		name := filepath.Base(file)
		return name == "README.md" || p.text[name] != nil
	}), err
}
