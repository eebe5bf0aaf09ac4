package yamlform

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

const (
	// maxSize bounds a file. A larger file is probably a log or an image with a wrong path.
	maxSize = 4 << 20
	// maxSeparators bounds the characters that separate keys and list items. The YAML library takes 160 bytes
	// for each key and each value, so that 4 MiB of brackets would take 800 MB.
	maxSeparators = 125_000
	// maxDirectives bounds the %TAG directives: the YAML library compares each with all others, which takes a
	// minute for 200,000. No key accepts a tag.
	maxDirectives = 100
	// maxItems bounds a list whose key has no max.
	maxItems = 5000
)

// Read reads a file, but at most one byte more than maxSize. It returns Errors.
func Read(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err == nil {
		defer f.Close()
		var data []byte
		if data, err = io.ReadAll(io.LimitReader(f, maxSize+1)); err == nil {
			return data, nil
		}
	}
	return nil, Errors{{File: path, Mistake: Mistake{"", "cannot be read (" + ReasonOf(err) + ")", "name a readable YAML file"}}}
}

// ReasonOf returns the text of a file system error without the path.
func ReasonOf(err error) string {
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		return pe.Err.Error()
	}
	return err.Error()
}

// parse returns the root mapping of the only YAML document in data.
func parse(name string, data []byte, emptyRemedy string) (*yaml.Node, error) {
	fail := func(line, column int, message, remedy string) (*yaml.Node, error) {
		return nil, Errors{{name, line, column, "", Mistake{"", message, remedy}}}
	}
	if len(data) > maxSize {
		return fail(0, 0, fmt.Sprintf("has %d bytes, more than a configuration can have", len(data)), "name a YAML file of at most 4 MiB")
	}
	if n := bytes.Count(data, []byte("%TAG")) + bytes.Count(data, []byte("%\x00T\x00A\x00G")); n > maxDirectives { // the second is UTF-16
		return fail(1, 1, fmt.Sprintf("has %d %%TAG directives, more than %d", n, maxDirectives), "remove them: tags are not supported")
	}
	in := yaml.NewDecoder(bytes.NewReader(data))
	var doc, second yaml.Node
	err := in.Decode(&doc)
	if errors.Is(err, io.EOF) || (err == nil && isEmpty(&doc)) {
		return fail(1, 1, "the file is empty", emptyRemedy)
	}
	if err == nil {
		err = in.Decode(&second)
	}
	if err == nil {
		return fail(second.Line, second.Column, "a second YAML document begins here", "keep one document in a file and remove the --- line")
	}
	if !errors.Is(err, io.EOF) {
		return nil, Errors{syntaxProblem(name, data, err)}
	}
	root := doc.Content[0]
	if root.Kind != yaml.MappingNode {
		return fail(root.Line, root.Column, "the file does not hold keys and values", emptyRemedy)
	}
	return root, nil
}

// separators counts the characters that may separate keys, list items and comments. Each has at most two YAML nodes.
func separators(data []byte) (n int) {
	for i, c := range data {
		switch c {
		case ',', ':', '[', '{', '#':
			n++
		case '-', '?':
			if i+1 == len(data) || data[i+1] <= ' ' || data[i+1] >= utf8.RuneSelf { // a blank, or a line break of YAML
				n++
			}
		}
	}
	return n
}

func isEmpty(doc *yaml.Node) bool {
	return len(doc.Content) == 0 || (doc.Content[0].ShortTag() == "!!null" && doc.Content[0].Value == "")
}

// libraryMessage matches the messages of the YAML library, with their line.
var libraryMessage = regexp.MustCompile(`^yaml: (?:line ([0-9]+): )?(.*)$`)

// syntaxProblem converts an error of the YAML library, which does not know the column.
func syntaxProblem(file string, data []byte, err error) Problem {
	p := Problem{File: file, Line: 1, Column: 1}
	text, _, _ := strings.Cut(err.Error(), "\n")
	if m := libraryMessage.FindStringSubmatch(text); m != nil {
		if n, err := strconv.Atoi(m[1]); err == nil {
			p.Line = n
		}
		text = m[2]
	}
	if name, ok := strings.CutPrefix(text, "unknown anchor '"); ok {
		before, _, _ := bytes.Cut(data, []byte("*"+strings.TrimSuffix(name, "' referenced")))
		p.Line, p.Column = bytes.Count(before, []byte("\n"))+1, len(before)-bytes.LastIndexByte(before, '\n')
		p.Message, p.Remedy = "is an alias, which is not supported", "write the value out, or put text that begins with * in quotes"
		return p
	}
	if text == "found character that cannot start any token" || strings.HasPrefix(text, "found a tab") {
		if line, column := tabNear(data, p.Line); column > 0 {
			p.Line, p.Column = line, column
			p.Message, p.Remedy = "is a tab, which YAML does not accept as indentation", "write spaces"
			return p
		}
	}
	if strings.HasPrefix(text, "did not find expected") {
		p.Line = brokenLine(data)
	}
	p.Message, p.Remedy = "is not YAML ("+text+")", "check the indentation, quotes and brackets around this line"
	return p
}

// tabNear returns the place of the first tab in the indentation of a line or of the next line, because the
// library counts some lines from 0. The column is 0 without a tab.
func tabNear(data []byte, line int) (at, column int) {
	lines := bytes.Split(data, []byte("\n"))
	for n := line; n <= min(line+1, len(lines)); n++ {
		text := lines[n-1]
		indent := text[:len(text)-len(bytes.TrimLeft(text, " \t"))]
		if i := bytes.IndexByte(indent, '\t'); i >= 0 {
			return n, i + 1
		}
	}
	return line, 0
}

// maxReparsed is the number of bytes that brokenLine parses again: a hundred lines of a file of 10 kB, none
// of the largest.
const maxReparsed = 1 << 20

// brokenLine returns the line that made the text invalid. The library returns the first line of the
// construct around it, which may be far above. The wanted line is the last one, up to where the parser
// stopped, whose addition turns valid text into invalid text: an unclosed bracket is found where it
// opens.
func brokenLine(data []byte) int {
	in := byteReader{bytes.NewReader(data)}
	yaml.NewDecoder(in).Decode(new(yaml.Node))
	before := data[:len(data)-in.Len()]
	last := bytes.Count(before, []byte("\n")) + 1
	for n, reparsed := last, 0; n > 0; n-- {
		before = before[:bytes.LastIndexByte(before, '\n')+1]
		if reparsed += len(before); reparsed > maxReparsed {
			break
		}
		if yaml.Unmarshal(before, new(yaml.Node)) == nil {
			return n
		}
		before = bytes.TrimSuffix(before, []byte("\n"))
	}
	return last
}

// byteReader returns one byte at a time, so that its remaining length shows where the parser stopped.
type byteReader struct{ *bytes.Reader }

func (r byteReader) Read(p []byte) (int, error) { return r.Reader.Read(p[:min(len(p), 1)]) }
