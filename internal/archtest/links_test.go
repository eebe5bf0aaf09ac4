package archtest

import (
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

const root = "../.."

// TestLinksOfTheDocs checks every relative link in every Markdown file, including the heading
// after "#".
func TestLinksOfTheDocs(t *testing.T) {
	files := markdown(t)
	if len(files) < 20 {
		t.Fatalf("only %d Markdown files were found", len(files))
	}
	for _, file := range files {
		for _, link := range links(read(t, file)) {
			if problem := follow(t, file, link); problem != "" {
				t.Errorf("%s: the link %s %s", strings.TrimPrefix(file, root+"/"), link, problem)
			}
		}
	}
}

func TestLinksAreFound(t *testing.T) {
	text := "# Two `words`\n\n[a](b.md#c-d) ![picture](p.svg) [out](https://example.com)\n" +
		"`[code](x.md)`\n```\n[fenced](y.md)\n# no heading\n```\n## Two words\n### [Linked](z.md), too\n"
	if got, want := strings.Join(links(text), " "), "b.md#c-d p.svg https://example.com z.md"; got != want {
		t.Errorf("links are %q, want %q", got, want)
	}
	got := headings(text)
	for _, want := range []string{"two-words", "two-words-1", "linked-too"} {
		if !got[want] {
			t.Errorf("no heading %q in %v", want, got)
		}
	}
	if len(got) != 3 {
		t.Errorf("%d headings in %v, want 3", len(got), got)
	}
}

// markdown returns all Markdown files except test data.
func markdown(t *testing.T) []string {
	t.Helper()
	var files []string
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch name := d.Name(); {
		case err != nil:
			return err
		case d.IsDir() && path != root && (strings.HasPrefix(name, ".") || name == "testdata" || name == "bin" || name == "dist"):
			return fs.SkipDir
		case !d.IsDir() && strings.HasSuffix(name, ".md"):
			files = append(files, path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func read(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// follow returns the problem of a link, or "".
func follow(t *testing.T, file, link string) string {
	t.Helper()
	u, err := url.Parse(link)
	switch {
	case err != nil:
		return "is invalid: " + err.Error()
	case u.Scheme != "" || u.Host != "":
		return "" // links to other sites are not checked
	}
	to := file
	if u.Path != "" {
		to = filepath.Join(filepath.Dir(file), filepath.FromSlash(u.Path))
	}
	if _, err := os.Stat(to); err != nil {
		return "points to a missing file"
	}
	if u.Fragment != "" && !headings(read(t, to))[u.Fragment] {
		return "names a missing heading"
	}
	return ""
}

var (
	fenced  = regexp.MustCompile("(?ms)^ *```.*?^ *```")
	inline  = regexp.MustCompile("`[^`\n]*`")
	linked  = regexp.MustCompile(`\[[^\]]*\]\(([^)\s]+)\)`)
	heading = regexp.MustCompile(`(?m)^#+ +(.*)$`)
	dropped = regexp.MustCompile(`[^\p{L}\p{N}\-_ ]`)
)

// links returns the link targets of a Markdown text, in order.
func links(text string) []string {
	var out []string
	for _, m := range linked.FindAllStringSubmatch(inline.ReplaceAllString(fenced.ReplaceAllString(text, ""), ""), -1) {
		out = append(out, m[1])
	}
	return out
}

// headings returns the anchors that GitHub gives to the headings of a text.
func headings(text string) map[string]bool {
	out, seen := map[string]bool{}, map[string]int{}
	for _, m := range heading.FindAllStringSubmatch(fenced.ReplaceAllString(text, ""), -1) {
		words := linked.ReplaceAllStringFunc(m[1], func(l string) string { return l[1:strings.Index(l, "]")] })
		anchor := strings.ReplaceAll(strings.ToLower(dropped.ReplaceAllString(words, "")), " ", "-")
		n := seen[anchor]
		seen[anchor]++
		if n > 0 {
			anchor += "-" + strconv.Itoa(n)
		}
		out[anchor] = true
	}
	return out
}
