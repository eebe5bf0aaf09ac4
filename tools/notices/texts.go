package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
)

// part is what the document says of one module.
type part struct {
	module
	kinds []string // SPDX identifiers
	files []file
}

// file is a licence or a notice, its name relative to the module's root.
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

// read adds the licences and notices of one folder. A notice that is a folder
// has the licences of borrowed code, whose authors nobody need know by name.
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

// all adds the files of a folder, as notices.
func (p *part) all(dir string) error {
	files, err := os.ReadDir(dir)
	for _, f := range files {
		if f.Type().IsRegular() {
			err = errors.Join(err, p.add(filepath.Join(dir, f.Name()), false))
		}
	}
	return err
}

// add reads one file. A notice is kept as it is; a licence must be allowed.
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

// names are the patterns of licence files and of files that go with them.
func names() (licence, notice *regexp.Regexp) {
	return regexp.MustCompile(`(?i)^(licen[cs]es?|copying|unlicense)([-_.].*)?$`),
		regexp.MustCompile(`(?i)^(notices?|patents|third[-_]?party[-_](licen[cs]es?|notices?))(\.(txt|md))?$`)
}
