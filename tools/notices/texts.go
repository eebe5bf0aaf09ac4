package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
)

// part is the section of the document about one module.
type part struct {
	module
	kinds []string // SPDX identifiers
	files []file
}

// file is a licence or a notice. Its name is relative to the module's root.
type file struct{ name, text string }

// part reads the licences of a module.
func (m module) part() (part, error) {
	p := part{module: m}
	for _, dir := range m.folders() {
		if err := p.read(dir); err != nil {
			return p, m.refuse(err)
		}
	}
	if len(p.kinds) == 0 {
		return p, m.refuse(fmt.Errorf("there is no licence file in %s", m.dir))
	}
	slices.Sort(p.kinds)
	p.kinds = slices.Compact(p.kinds)
	return p, nil
}

func (m module) refuse(err error) error {
	return fmt.Errorf("%s %s: %w; link another module (go mod why -m %s), or read the licence and add it to tools/notices/kinds.go",
		m.path, m.version, err, m.path)
}

// read adds the licences and notices of one directory. A notice that is a directory has the
// licences of borrowed code, whose names do not matter.
func (p *part) read(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	licence, notice := names()
	for _, e := range entries {
		path, isLicence := filepath.Join(dir, e.Name()), licence.MatchString(e.Name()) && !e.IsDir()
		switch {
		case filepath.Ext(e.Name()) == ".go", !isLicence && !notice.MatchString(e.Name()):
		case e.IsDir():
			err = errors.Join(err, p.all(path))
		default:
			err = errors.Join(err, p.add(path, isLicence))
		}
	}
	return err
}

// all adds all files of a directory as notices.
func (p *part) all(dir string) error {
	files, err := os.ReadDir(dir)
	for _, f := range files {
		if f.Type().IsRegular() {
			err = errors.Join(err, p.add(filepath.Join(dir, f.Name()), false))
		}
	}
	return err
}

// add reads one file. A licence must be allowed; a notice is always kept.
func (p *part) add(path string, licence bool) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	name, err := filepath.Rel(p.dir, path)
	if err != nil {
		return err
	}
	if licence {
		ks, err := kinds(text)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		p.kinds = append(p.kinds, ks...)
	}
	p.files = append(p.files, file{filepath.ToSlash(name), string(text)})
	return nil
}

// names returns the patterns of licence files and of notice files.
func names() (licence, notice *regexp.Regexp) {
	return regexp.MustCompile(`(?i)^(licen[cs]es?|copying|unlicense)([-_.].*)?$`),
		regexp.MustCompile(`(?i)^(notices?|patents|third[-_]?party[-_](licen[cs]es?|notices?))(\.(txt|md))?$`)
}
