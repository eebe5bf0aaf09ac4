package status

import (
	"bytes"
	"html/template"
	"regexp"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"

	"synthetic/docs/runbooks"
)

var (
	// runbookLink leads to another runbook, otherLink into the rest of the docs,
	// which this process does not have.
	runbookLink = regexp.MustCompile(`\]\((Synthetic\w+)\.md\)`)
	otherLink   = regexp.MustCompile(`\[([^\]]+)\]\(\.\./[^)]*\)`)
	// wide are elements that scroll by themselves, also by the keyboard.
	wide = strings.NewReplacer("<pre>", `<pre tabindex="0">`, "<table>", `<div class="scroll" tabindex="0"><table>`, "</table>", "</table></div>")
)

// runbook renders that of an alert, its headings one level lower; root leads to the
// first page. Sections are those that are wanted, all of them if there are none;
// "" means that there is no such runbook.
func runbook(alert, root string, sections ...string) (template.HTML, error) {
	text, err := runbooks.Files.ReadFile(alert + ".md")
	if err != nil {
		return "", nil //nolint:nilerr // an alert of somebody's own has none
	}
	var b bytes.Buffer
	md := runbookLink.ReplaceAllString(otherLink.ReplaceAllString(string(text), "$1"), "]("+root+"runbooks/$1)")
	if err := goldmark.New(goldmark.WithExtensions(extension.Table)).Convert([]byte(partsOf(md, sections)), &b); err != nil {
		return "", err
	}
	return template.HTML(wide.Replace(b.String())), nil // of our own file, its HTML dropped
}

// partsOf drops the title of a runbook and puts its sections one level lower.
func partsOf(md string, wanted []string) string {
	var out strings.Builder
	for _, part := range strings.Split("\n"+md, "\n## ")[1:] {
		name, body, _ := strings.Cut(part, "\n")
		if len(wanted) == 0 {
			out.WriteString("### " + name + "\n" + body + "\n")
			continue
		}
		for _, w := range wanted {
			if name == w {
				out.WriteString(body + "\n")
			}
		}
	}
	return out.String()
}
