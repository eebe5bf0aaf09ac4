package main

import (
	"fmt"
	"strings"
)

const heading = `Third-party notices
===================

The modules that are linked into %s, on any platform that it is released
for, and the packages of npm that it embeds, with their licences and notices. A
text that several share stands here once. Written by "make notices".

`

// document renders a table of the modules, followed by the texts.
func document(command string, parts []part) string {
	var b strings.Builder
	fmt.Fprintf(&b, heading, strings.TrimPrefix(command, "./"))
	for _, p := range parts {
		fmt.Fprintf(&b, "%s\n", strings.Join(strings.Fields(p.path+" "+p.version+" "+strings.Join(p.kinds, " ")), " "))
	}
	for _, t := range shared(parts) {
		fmt.Fprintf(&b, "\n%s\n%s\n%s\n\n%s\n", strings.Repeat("-", 80), strings.Join(t.of, "\n"), strings.Repeat("-", 80), t.text)
	}
	return b.String()
}

// sharedText is a text and the files that contain it.
type sharedText struct {
	text string
	of   []string
}

// shared joins files with the same words, in the order of the first file.
func shared(parts []part) []*sharedText {
	var texts []*sharedText
	known := map[string]*sharedText{}
	for _, p := range parts {
		for _, f := range p.files {
			words := strings.Join(strings.Fields(f.text), " ")
			if known[words] == nil {
				known[words] = &sharedText{text: tidy(f.text)}
				texts = append(texts, known[words])
			}
			known[words].of = append(known[words].of, p.path+": "+f.name)
		}
	}
	return texts
}

// tidy removes carriage returns, trailing spaces, and empty lines around the text.
func tidy(text string) string {
	lines := strings.Split(text, "\n")
	for i, l := range lines {
		lines[i] = strings.TrimRight(l, " \t\r\f")
	}
	return strings.Trim(strings.Join(lines, "\n"), "\n")
}
