package kubernetes

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"

	"k8s.io/client-go/util/jsonpath"
)

// mostText bounds the result of an expression, in bytes.
const mostText = 64 << 10

// expression is a JSONPath template. A nil expression has an empty result. It is not safe for
// concurrent use.
type expression struct{ path *jsonpath.JSONPath }

// CheckExpression returns an error for an invalid expression.
func CheckExpression(text string) error {
	_, err := compile(text)
	return err
}

// compile parses a template. A path with a dot, such as status.url, may lack its braces.
func compile(text string) (*expression, error) {
	if text == "" {
		return nil, nil
	}
	if strings.Contains(text, ".") && !strings.ContainsAny(text, "{}:/ ") {
		text = "{." + strings.TrimPrefix(text, ".") + "}"
	}
	p := jsonpath.New("").AllowMissingKeys(true)
	if err := p.Parse(text); err != nil {
		return nil, err
	}
	return &expression{p}, nil
}

// text returns the result of the template for an object.
func (e *expression) text(object any) (text string, err error) {
	if e == nil {
		return "", nil
	}
	defer recoverPanic(&err)
	var out boundedBuffer
	if err := e.path.Execute(&out, object); err != nil {
		return "", err
	}
	return strings.TrimSpace(out.String()), nil
}

// labels returns the mapping of texts that the expression finds; nil if there is none.
func (e *expression) labels(object any) (labels map[string]string, err error) {
	if e == nil {
		return nil, nil
	}
	defer recoverPanic(&err)
	results, err := e.path.FindResults(object)
	if err != nil || len(results) == 0 || len(results[0]) == 0 {
		return nil, err
	}
	mapping, ok := results[0][0].Interface().(map[string]any)
	if !ok {
		return nil, fmt.Errorf("is no mapping of labels")
	}
	labels = map[string]string{}
	for k, v := range mapping {
		text, ok := v.(string)
		if !ok {
			return nil, fmt.Errorf("is no mapping of labels: %.50q is no text", k)
		}
		labels[k] = text
	}
	return labels, nil
}

// recoverPanic turns a panic into an error: the library reflects on data that others wrote.
func recoverPanic(err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("cannot be evaluated: %v", p)
	}
}

type boundedBuffer struct{ bytes.Buffer }

func (b *boundedBuffer) Write(p []byte) (int, error) {
	if b.Len()+len(p) > mostText {
		return 0, fmt.Errorf("is longer than %d bytes", mostText)
	}
	return b.Buffer.Write(p)
}

type expressions struct {
	url, when                             *expression
	multipleURLs                          bool // url may return several addresses
	labels                                map[string]*expression
	join                                  bool
	joinSelector, joinName, joinNamespace *expression
}

// multipleResults matches expressions whose number of results depends on the object.
var multipleResults = regexp.MustCompile(`\brange\b|\*|\?\(|\.\.|\[[^]]*[:,]`)

func (c Config) compile() (expressions, error) {
	e := expressions{labels: map[string]*expression{}, join: c.With != nil, multipleURLs: multipleResults.MatchString(c.URL)}
	with := Join{}
	if c.With != nil {
		with = *c.With
	}
	for _, field := range []struct {
		compiled  **expression
		key, text string
	}{
		{&e.url, "url", c.URL}, {&e.when, "when", c.When},
		{&e.joinSelector, "with.selector", with.Selector}, {&e.joinName, "with.name", with.Name}, {&e.joinNamespace, "with.namespace", with.Namespace},
	} {
		compiled, err := compile(field.text)
		if err != nil {
			return e, fmt.Errorf("%s: %q: %w", field.key, field.text, err)
		}
		*field.compiled = compiled
	}
	for name, text := range c.Labels {
		compiled, err := compile(text)
		if err != nil {
			return e, fmt.Errorf("labels.%s: %q: %w", name, text, err)
		}
		e.labels[name] = compiled
	}
	return e, nil
}
