// Package runbooks holds the runbooks of the alerts, so that the page of an
// incident and the dashboards can show them where no repository is at hand.
package runbooks

import (
	"embed"
	"regexp"
	"strings"
)

// Files are Synthetic*.md: one for each alert, by its name.
//
//go:embed Synthetic*.md
var Files embed.FS

// link matches a link in Markdown.
var link = regexp.MustCompile(`\[([^\]]*)\]\([^)]*\)`)

// Alerts returns the names of the alerts that have a runbook, sorted.
func Alerts() (names []string) {
	files, _ := Files.ReadDir(".") // it cannot fail
	for _, f := range files {
		names = append(names, strings.TrimSuffix(f.Name(), ".md"))
	}
	return names
}

// FirstStep returns the first item of the section Mitigate of an alert's runbook as plain text, "" without one.
func FirstStep(alert string) string {
	text, err := Files.ReadFile(alert + ".md")
	if err != nil { // a user's own alert has no runbook
		return ""
	}
	_, section, _ := strings.Cut(string(text), "\n## Mitigate\n")
	section, _, _ = strings.Cut(section, "\n## ")
	_, item, found := strings.Cut("\n"+section, "\n1. ")
	if !found {
		item = section
	}
	if strings.HasPrefix(strings.TrimSpace(item), "|") { // a table
		return ""
	}
	for _, end := range []string{"\n2. ", "\n\n", "\n```", "\n- "} {
		item, _, _ = strings.Cut(strings.TrimLeft(item, "\n"), end)
	}
	plain := strings.NewReplacer("`", "", "**", "").Replace(strings.Join(strings.Fields(item), " "))
	return link.ReplaceAllString(plain, "$1")
}
