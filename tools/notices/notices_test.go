package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const isc = `Copyright (c) 2020 Somebody

Permission to use, copy, modify, and/or distribute this software for any
purpose with or without fee is hereby granted, provided that the above
copyright notice and this permission notice appear in all copies.

THE SOFTWARE IS PROVIDED "AS IS" AND THE AUTHOR DISCLAIMS ALL WARRANTIES WITH
REGARD TO THIS SOFTWARE INCLUDING ALL IMPLIED WARRANTIES OF MERCHANTABILITY AND
FITNESS. IN NO EVENT SHALL THE AUTHOR BE LIABLE FOR ANY SPECIAL, DIRECT,
INDIRECT, OR CONSEQUENTIAL DAMAGES OR ANY DAMAGES WHATSOEVER RESULTING FROM LOSS
OF USE, DATA OR PROFITS, WHETHER IN AN ACTION OF CONTRACT, NEGLIGENCE OR OTHER
TORTIOUS ACTION, ARISING OUT OF OR IN CONNECTION WITH THE USE OR PERFORMANCE OF
THIS SOFTWARE.
`

const gpl = `This program is free software; you can redistribute it and/or modify it
under the terms of the GNU General Public License as published by the Free
Software Foundation; either version 2 of the License, or (at your option) any
later version.
`

const ccBy = "This work is licensed under http://creativecommons.org/licenses/by/4.0/\n"

func TestKinds(t *testing.T) {
	for name, test := range map[string]struct {
		text  string
		names []string
		err   string
	}{
		"allowed":                 {text: isc, names: []string{"ISC"}},
		"copyleft":                {text: gpl, err: "GPL-2.0"},
		"of another kind":         {text: ccBy, err: "CC-BY-4.0"},
		"allowed and not allowed": {text: isc + "\n" + ccBy, err: "CC-BY-4.0"},
		"of nobody's making":      {text: "You may use this on Sundays.", err: "only 0% of the text"},
		"more than a licence":     {text: isc + strings.Repeat("But not in a factory of ours or anybody's. ", 50), err: "of the text"},
	} {
		t.Run(name, func(t *testing.T) {
			names, err := kinds([]byte(test.text))
			if diff := cmp.Diff(test.names, names); diff != "" {
				t.Errorf("licences (-want +got):\n%s", diff)
			}
			if got := errorText(err); !strings.Contains(got, test.err) || (got == "") != (test.err == "") {
				t.Errorf("error %q, want %q", got, test.err)
			}
		})
	}
}

// The licences of a module are in the directories from its root to the linked packages, and
// in the directories of borrowed code.
func TestPart(t *testing.T) {
	for name, test := range map[string]struct {
		files map[string]string
		names []string
		err   string
	}{
		"root, notice and the way to a package": {
			files: map[string]string{
				"LICENSE": isc, "NOTICE.txt": "Hello.", "license.go": "package m", "inner/COPYING": isc,
				"inner/linked/linked.go": "package linked", "elsewhere/LICENSE": gpl, "THIRD_PARTY_LICENSES/Borrowed": "Borrowed.",
			},
			names: []string{"LICENSE", "NOTICE.txt", "THIRD_PARTY_LICENSES/Borrowed", "inner/COPYING"},
		},
		"no licence": {
			files: map[string]string{"inner/linked/linked.go": "", "NOTICE": "Hello."},
			err:   "no licence file",
		},
		"not allowed": {
			files: map[string]string{"LICENSE": isc, "inner/linked/LICENCE.md": gpl},
			err:   "inner/linked/LICENCE.md: the licence is GPL-2.0",
		},
	} {
		t.Run(name, func(t *testing.T) {
			m := module{path: "example.com/m", version: "v1.2.3", dir: t.TempDir()}
			m.packages = map[string]bool{filepath.Join(m.dir, "inner", "linked"): true}
			write(t, m.dir, test.files)
			p, err := m.part()
			if test.err == "" {
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(test.names, fileNames(p)); diff != "" {
					t.Errorf("files (-want +got):\n%s", diff)
				}
				return
			}
			for _, want := range []string{"example.com/m v1.2.3", test.err, "go mod why -m example.com/m"} {
				if !strings.Contains(errorText(err), want) {
					t.Errorf("error %q lacks %q", errorText(err), want)
				}
			}
		})
	}
}

func TestLinked(t *testing.T) {
	modules, err := linked("synthetic/tools/notices", []string{"linux/amd64", "darwin/arm64"})
	if err != nil {
		t.Fatal(err)
	}
	var paths []string
	for _, m := range modules {
		paths = append(paths, m.path)
	}
	if diff := cmp.Diff([]string{"the Go standard library", "github.com/google/licensecheck"}, paths); diff != "" {
		t.Errorf("linked modules (-want +got):\n%s", diff)
	}
}

func TestDocumentSharesTexts(t *testing.T) {
	first := part{module: module{path: "example.com/one", version: "v1.0.0"}, kinds: []string{"ISC"}, files: []file{{"LICENSE", "Words of  it. \r\n"}}}
	second := part{module: module{path: "example.com/two", version: "v2.0.0"}, kinds: []string{"ISC"}, files: []file{{"COPYING", "Words\nof it.\n"}}}
	got := document("./cmd/x", []part{first, second})
	for _, want := range []string{
		"linked into cmd/x,", "example.com/one v1.0.0 ISC\n", "example.com/two v2.0.0 ISC\n",
		"\nexample.com/one: LICENSE\nexample.com/two: COPYING\n", "\nWords of  it.\n",
	} {
		if strings.Count(got, want) != 1 {
			t.Errorf("want %q once in:\n%s", want, got)
		}
	}
}

func write(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		name = filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func fileNames(p part) []string {
	var names []string
	for _, f := range p.files {
		names = append(names, f.name)
	}
	return names
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// TestVendored: vendored npm packages are listed like modules.
func TestVendored(t *testing.T) {
	dir := t.TempDir()
	lib := filepath.Join(dir, "third_party", "lib")
	if err := os.MkdirAll(lib, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"LICENSE": isc, "package.json": `{"name":"lib","version":"1.2.3"}`} {
		if err := os.WriteFile(filepath.Join(lib, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	found := map[string]module{}
	if err := vendored(found, dir); err != nil {
		t.Fatal(err)
	}
	p, err := found["npm:lib"].part()
	if err != nil || p.version != "1.2.3" || len(p.kinds) != 1 || p.kinds[0] != "ISC" {
		t.Errorf("%+v, %v", p, err)
	}
}
