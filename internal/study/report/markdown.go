package report

import (
	"fmt"
	"strings"
)

// Markdown writes the document; pictures are links to files beside it.
func (d Document) Markdown() []byte {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n", d.Title)
	for _, line := range d.Lead {
		fmt.Fprintf(&b, "\n%s\n", line)
	}
	for _, s := range d.Sections {
		mark := "##"
		if s.Sub {
			mark = "###"
		}
		fmt.Fprintf(&b, "\n%s %s\n", mark, s.Title)
		for _, block := range s.Blocks {
			b.WriteString("\n")
			block.markdown(&b)
		}
	}
	return []byte(b.String())
}

func (b Block) markdown(w *strings.Builder) {
	switch {
	case b.Table != nil:
		b.Table.markdown(w)
	case b.Picture != nil:
		fmt.Fprintf(w, "![%s](%s)\n", b.Picture.Alt, b.Picture.File)
	case b.Code != "":
		fmt.Fprintf(w, "```%s\n%s\n```\n", b.Language, strings.TrimRight(b.Code, "\n"))
	case len(b.List) > 0:
		for _, item := range b.List {
			fmt.Fprintf(w, "- %s\n", item)
		}
	default:
		fmt.Fprintf(w, "%s\n", b.Paragraph)
	}
}

func (t *Table) markdown(w *strings.Builder) {
	rule := " :---: |"
	if t.Left {
		rule = " :--- |"
	}
	row(w, cells(t.Header...))
	fmt.Fprintf(w, "|%s\n", strings.Repeat(rule, len(t.Header)))
	for _, r := range t.Rows {
		row(w, r)
	}
}

func row(w *strings.Builder, cells []Cell) {
	w.WriteString("|")
	for _, c := range cells {
		// A bar or a line break in a cell would end it.
		text := strings.NewReplacer("|", `\|`, "\n", " ").Replace(c.Text)
		fmt.Fprintf(w, " %s |", text)
	}
	w.WriteString("\n")
}
