package chart

import (
	"bytes"
	"cmp"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	apps "k8s.io/api/apps/v1"
	batch "k8s.io/api/batch/v1"
	core "k8s.io/api/core/v1"
	kjson "sigs.k8s.io/json"
	"sigs.k8s.io/yaml"
)

const (
	chartDir    = "../synthetic"
	examplesDir = "../../../examples/kubernetes"
	// kubeVersion is the Kubernetes version to render for. A helm built without its
	// release flags would assume a much older one.
	kubeVersion = "--kube-version=1.31.0"
)

// object is one rendered resource.
type object struct {
	Kind     string
	Metadata struct {
		Name        string
		Namespace   string
		Labels      map[string]string
		Annotations map[string]string
	}
	text []byte
}

// tool returns the path of a program that "make helm-lint" built; the environment
// variable has it.
func tool(t *testing.T, env string) string {
	t.Helper()
	path := os.Getenv(env)
	if path == "" {
		t.Fatalf("%s names no program: run \"make helm-lint\" in the root of the repository", env)
	}
	return path
}

// helm runs "helm template" on the chart and returns its output.
func helm(t *testing.T, args ...string) (stdout, stderr string, err error) {
	t.Helper()
	return helmOn(t, chartDir, args...)
}

// helmOn runs "helm template" on a chart, with the release name rel. An image in args
// replaces that of testdata.
func helmOn(t *testing.T, dir string, args ...string) (stdout, stderr string, err error) {
	t.Helper()
	return helmBy(t, "HELM", dir, args...)
}

// helmBy runs the Helm binary at the path in an environment variable.
func helmBy(t *testing.T, env, dir string, args ...string) (stdout, stderr string, err error) {
	t.Helper()
	var out, errs bytes.Buffer
	c := exec.CommandContext(t.Context(), tool(t, env), append([]string{"template", "rel", dir, "--namespace=probing", kubeVersion, "--values=testdata/image-values.yaml"}, args...)...)
	c.Stdout, c.Stderr = &out, &errs
	err = c.Run()
	return out.String(), errs.String(), err
}

// render returns the resources that the chart renders with args.
func render(t *testing.T, args ...string) []object {
	t.Helper()
	out, errs, err := helm(t, args...)
	if err != nil {
		t.Fatalf("helm template %s: %v\n%s", strings.Join(args, " "), err, errs)
	}
	return split(t, out)
}

// split parses a YAML file with several resources.
func split(t *testing.T, text string) []object {
	t.Helper()
	var objects []object
	for doc := range strings.SplitSeq("\n"+text, "\n---\n") {
		o := object{text: []byte(doc + "\n")}
		if err := yaml.Unmarshal(o.text, &o); err != nil {
			t.Fatalf("not YAML: %v\n%s", err, doc)
		}
		if o.Kind != "" {
			objects = append(objects, o)
		}
	}
	return objects
}

// single returns the only resource of a kind.
func single(t *testing.T, objects []object, kind string) object {
	t.Helper()
	var found []object
	for _, o := range objects {
		if o.Kind == kind {
			found = append(found, o)
		}
	}
	if len(found) != 1 {
		t.Fatalf("%d resources of kind %s, want 1", len(found), kind)
	}
	return found[0]
}

// podsOf returns the pod template of the Deployment, StatefulSet or Job.
func podsOf(t *testing.T, objects []object) core.PodTemplateSpec {
	t.Helper()
	switch {
	case has(objects, "StatefulSet"):
		return decodeAs[apps.StatefulSet](t, single(t, objects, "StatefulSet")).Spec.Template
	case has(objects, "Job"):
		return decodeAs[batch.Job](t, single(t, objects, "Job")).Spec.Template
	}
	return decodeAs[apps.Deployment](t, single(t, objects, "Deployment")).Spec.Template
}

func has(objects []object, kind string) bool {
	return slices.ContainsFunc(objects, func(o object) bool { return o.Kind == kind })
}

// decodeAs decodes a resource as strictly as the API server does.
func decodeAs[T any](t *testing.T, o object) T {
	t.Helper()
	var v T
	if err := decodeStrict(o.text, &v); err != nil {
		t.Fatalf("%s %s: %v\n%s", o.Kind, o.Metadata.Name, err, o.text)
	}
	return v
}

// decodeStrict rejects duplicate and unknown fields, and fields in another case, which
// encoding/json would accept.
func decodeStrict(text []byte, v any) error {
	j, err := yaml.YAMLToJSONStrict(text)
	if err != nil {
		return err
	}
	strict, err := kjson.UnmarshalStrict(j, v)
	return errors.Join(append(strict, err)...)
}

// eachValues runs f for the resources rendered from each values file, in ci/ and in the
// documentation.
func eachValues(t *testing.T, f func(t *testing.T, values string, objects []object)) {
	t.Helper()
	files, err := filepath.Glob(chartDir + "/ci/*-values.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no values under ci/: %v", cmp.Or(err, os.ErrNotExist))
	}
	examples, err := filepath.Glob(examplesDir + "/*-values.yaml")
	if err != nil || len(examples) == 0 {
		t.Fatalf("no values under %s: %v", examplesDir, cmp.Or(err, os.ErrNotExist))
	}
	for _, file := range append(files, examples...) {
		t.Run(strings.TrimSuffix(filepath.Base(file), "-values.yaml"), func(t *testing.T) {
			f(t, file, render(t, "--values="+file))
		})
	}
}
