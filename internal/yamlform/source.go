package yamlform

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

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
