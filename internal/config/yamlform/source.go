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

	"go.yaml.in/yaml/v3"
)

// maxSize bounds a file. It guards against naming a log or an image by mistake,
// not against anything that a person would write.
const maxSize = 4 << 20

// Read reads a file, but not much more than a form can have. An error is of type
// Errors.
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

// ReasonOf is an error of the file system without the path, which a message
// names already.
func ReasonOf(err error) string {
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		return pe.Err.Error()
	}
	return err.Error()
}

// parse turns the text into the root mapping of its only YAML document.
func parse(name string, data []byte, least string) (*yaml.Node, error) {
	fail := func(line, column int, message, remedy string) (*yaml.Node, error) {
		return nil, Errors{{name, line, column, "", Mistake{"", message, remedy}}}
	}
	if len(data) > maxSize {
		return fail(0, 0, fmt.Sprintf("has %d bytes, more than a configuration can have", len(data)), "name a YAML file of at most 4 MiB")
	}
	in := yaml.NewDecoder(bytes.NewReader(data))
	var doc, second yaml.Node
	err := in.Decode(&doc)
	if errors.Is(err, io.EOF) || (err == nil && isEmpty(&doc)) {
		return fail(1, 1, "the file is empty", least)
	}
	if err == nil {
		err = in.Decode(&second)
	}
	if err == nil {
		return fail(second.Line, second.Column, "a second YAML document begins here", "keep one document to a file and remove the --- line")
	}
	if !errors.Is(err, io.EOF) {
		return nil, Errors{syntaxProblem(name, data, err)}
	}
	root := doc.Content[0]
	if root.Kind != yaml.MappingNode {
		return fail(root.Line, root.Column, "the file does not hold keys and values", least)
	}
	return root, nil
}

func isEmpty(doc *yaml.Node) bool {
	return len(doc.Content) == 0 || (doc.Content[0].ShortTag() == "!!null" && doc.Content[0].Value == "")
}

// lineOf finds the line in the messages of the YAML library.
var lineOf = regexp.MustCompile(`^yaml: (?:line ([0-9]+): )?(.*)$`)

// syntaxProblem turns an error of the YAML library into a Problem. The library
// knows no column, so the line's first one is given.
func syntaxProblem(file string, data []byte, err error) Problem {
	p := Problem{File: file, Line: 1, Column: 1}
	text, _, _ := strings.Cut(err.Error(), "\n")
	if m := lineOf.FindStringSubmatch(text); m != nil {
		if n, err := strconv.Atoi(m[1]); err == nil {
			p.Line = n
		}
		text = m[2]
	}
	if name, ok := strings.CutPrefix(text, "unknown anchor '"); ok {
		p.Line, p.Column = placeOf(data, "*"+strings.TrimSuffix(name, "' referenced"))
		p.Message, p.Remedy = "is an alias, which is not supported", "write the value out, or put text that begins with * in quotes"
		return p
	}
	if text == "found character that cannot start any token" || strings.HasPrefix(text, "found a tab") {
		if line, column := tabNear(data, p.Line); column > 0 {
			p.Line, p.Column = line, column
			p.Message, p.Remedy = "is a tab, which YAML does not take for indentation", "write spaces"
			return p
		}
	}
	if strings.HasPrefix(text, "did not find expected") {
		p.Line = brokenLine(data)
	}
	p.Message, p.Remedy = "is not YAML ("+text+")", "check the indentation, quotes and brackets around this line"
	return p
}

// tabNear finds the first tab in the indentation of a line or of the one below,
// since the library counts some lines from 0. Without one the column is 0.
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

// placeOf finds the line and column of a text, for the one mistake that the
// library gives no place for.
func placeOf(data []byte, text string) (line, column int) {
	before, _, _ := bytes.Cut(data, []byte(text))
	return bytes.Count(before, []byte("\n")) + 1, len(before) - bytes.LastIndexByte(before, '\n')
}

// maxBack is how many lines brokenLine looks back.
const maxBack = 100

// brokenLine finds the line that made the text invalid. The library's parser
// names the line where the construct around it began, which may be far above.
// It is the last line, of those read up to the error, whose addition made valid
// text invalid: an unclosed bracket is found where it opens.
func brokenLine(data []byte) int {
	lines := bytes.SplitAfter(data, []byte("\n"))
	in := byteReader{bytes.NewReader(data)}
	yaml.NewDecoder(in).Decode(new(yaml.Node))
	last := min(bytes.Count(data[:len(data)-in.Len()], []byte("\n"))+1, len(lines))
	for n := last; n > max(last-maxBack, 0); n-- {
		if yaml.Unmarshal(bytes.Join(lines[:n-1], nil), new(yaml.Node)) == nil {
			return n
		}
	}
	return max(last, 1)
}

// byteReader gives one byte at a time, so that what is left tells how far the
// parser came.
type byteReader struct{ *bytes.Reader }

func (r byteReader) Read(p []byte) (int, error) { return r.Reader.Read(p[:min(len(p), 1)]) }
