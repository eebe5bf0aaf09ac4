package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
)

// build is a Dockerfile that copies one directory into an empty image.
type build struct {
	config v1.Config
	// source is the copied directory, relative to the context.
	source string
	args   map[string]string // declared by ARG
}

// parse reads a Dockerfile. It rejects instructions that would need a container engine. given are
// the values of build arguments.
func parse(text string, given map[string]string) (build, error) {
	b := build{args: map[string]string{}, config: v1.Config{
		Env: []string{"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"}, WorkingDir: "/",
	}}
	for line := range strings.Lines(strings.ReplaceAll(text, "\\\n", " ")) {
		word, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		if word == "" || strings.HasPrefix(word, "#") {
			continue
		}
		if err := b.instruction(word, strings.TrimSpace(rest), given); err != nil {
			return b, fmt.Errorf("%s: %w", word, err)
		}
	}
	if b.source == "" {
		return b, fmt.Errorf("no COPY, so that the image would be empty")
	}
	return b, nil
}

func (b *build) instruction(word, rest string, given map[string]string) error {
	if word == "ARG" {
		name, otherwise, _ := strings.Cut(rest, "=")
		b.args[name] = cmp.Or(given[name], otherwise)
		return nil
	}
	rest = os.Expand(rest, func(name string) string { return b.args[name] })
	switch word {
	case "FROM":
		if rest != "scratch" {
			return fmt.Errorf("the base %q needs a container engine; only scratch does not", rest)
		}
		return nil
	case "COPY":
		return b.copy(rest)
	case "LABEL":
		return b.labels(rest)
	case "USER":
		b.config.User = rest
		return nil
	case "EXPOSE":
		b.config.ExposedPorts = map[string]struct{}{rest + "/tcp": {}}
		return nil
	case "ENTRYPOINT":
		return json.Unmarshal([]byte(rest), &b.config.Entrypoint)
	case "CMD":
		return json.Unmarshal([]byte(rest), &b.config.Cmd)
	}
	return fmt.Errorf("tools/image does not know this instruction: teach it, or build with a container engine")
}

func (b *build) copy(rest string) error {
	from, to, _ := strings.Cut(rest, " ")
	if b.source != "" || to != "/" || !strings.HasSuffix(from, "/") {
		return fmt.Errorf("%q is not the one directory that becomes the root", rest)
	}
	b.source = from
	return nil
}

// labels reads pairs such as name="a text".
func (b *build) labels(rest string) error {
	b.config.Labels = map[string]string{}
	for rest != "" {
		name, value, _ := strings.Cut(rest, "=")
		quoted, err := strconv.QuotedPrefix(value)
		if err != nil {
			return fmt.Errorf("%s has no value in quotes", name)
		}
		if b.config.Labels[name], err = strconv.Unquote(quoted); err != nil {
			return err
		}
		rest = strings.TrimSpace(strings.TrimPrefix(value, quoted))
	}
	return nil
}
