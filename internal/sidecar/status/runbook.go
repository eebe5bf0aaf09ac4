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
	// runbookLink matches links to other runbooks, otherLink links to docs that this process
	// does not have.
	runbookLink = regexp.MustCompile(`\]\((Synthetic\w+)\.md\)`)
	otherLink   = regexp.MustCompile(`\[([^\]]+)\]\(\.\./[^)]*\)`)
	// wide makes large elements scroll, also with the keyboard.
	wide = strings.NewReplacer("<pre>", `<pre tabindex="0">`, "<table>", `<div class="scroll" tabindex="0"><table>`, "</table>", "</table></div>")
)

// runbook renders the runbook of an alert, with headings one level lower. root is the path to
// the first page. sections selects sections, all by default. The result is "" if there is no
// such runbook.
func runbook(alert, root string, sections ...string) (template.HTML, error) {
	text, err := runbooks.Files.ReadFile(alert + ".md")
	if err != nil {
		return "", nil //nolint:nilerr // a user's own alert has no runbook
	}
	var b bytes.Buffer
	md := runbookLink.ReplaceAllString(otherLink.ReplaceAllString(string(text), "$1"), "]("+root+"runbooks/$1)")
	if err := goldmark.New(goldmark.WithExtensions(extension.Table)).Convert([]byte(partsOf(md, sections)), &b); err != nil {
		return "", err
	}
	return template.HTML(wide.Replace(b.String())), nil // our own file, without its HTML
}

// partsOf drops the title of a runbook and lowers its headings one level.
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
