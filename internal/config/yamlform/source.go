package yamlform

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"regexp"
	"strings"

	"go.yaml.in/yaml/v3"
)

// maxSize bounds a file. A larger file is probably a log or an image with a wrong path.
const maxSize = 4 << 20

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
		reason, _, _ := strings.Cut(libraryLine.ReplaceAllString(err.Error(), ""), "\n")
		return fail(brokenLine(data), 1, "is not YAML ("+reason+")", "check the indentation (spaces, no tabs), quotes and brackets around this line")
	}
	root := doc.Content[0]
	if root.Kind != yaml.MappingNode {
		return fail(root.Line, root.Column, "the file does not hold keys and values", emptyRemedy)
	}
	return root, nil
}

func isEmpty(doc *yaml.Node) bool {
	return len(doc.Content) == 0 || (doc.Content[0].ShortTag() == "!!null" && doc.Content[0].Value == "")
}

// libraryLine matches the line in messages of the YAML library, which may be far above the mistake.
var libraryLine = regexp.MustCompile(`^yaml: (line [0-9]+: )?`)

// maxReparsed bounds the bytes that brokenLine parses again.
const maxReparsed = 10 << 20

// brokenLine returns the line that made the text invalid: the last one whose addition turns valid text into
// invalid text. An unclosed bracket is found where it opens.
func brokenLine(data []byte) int {
	before, reparsed := data, 0
	for line := bytes.Count(data, []byte("\n")) + 1; line > 1; line-- {
		before = before[:bytes.LastIndexByte(before, '\n')]
		if reparsed += len(before); reparsed > maxReparsed {
			return line
		}
		if yaml.Unmarshal(before, new(yaml.Node)) == nil {
			return line
		}
	}
	return 1
}
