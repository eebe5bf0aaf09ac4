package chart

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	batch "k8s.io/api/batch/v1"
	core "k8s.io/api/core/v1"
)

// manifests returns the resources in a file of the documentation.
func manifests(t *testing.T, name string) []object {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(examplesDir, name))
	if err != nil {
		t.Fatal(err)
	}
	return split(t, string(text))
}

// TestSidecarExamples: in the sidecar examples the prober must not make the engine's pod
// unready, and the configuration must be valid.
func TestSidecarExamples(t *testing.T) {
	for _, name := range []string{"sidecar.yaml", "native-sidecar.yaml"} {
		t.Run(name, func(t *testing.T) {
			objects := manifests(t, name)
			for _, o := range objects {
				decode := decoders[o.Kind]
				if decode == nil {
					t.Fatalf("%s: a kind that this test does not know", o.Kind)
				}
				decode(t, o)
			}
			pod := podsOf(t, objects)
			restricted(t, &pod.ObjectMeta, &pod.Spec, false)
			for _, c := range append(pod.Spec.Containers, pod.Spec.InitContainers...) {
				if c.Name == "synthetic" && c.ReadinessProbe != nil {
					t.Error("a prober that is not ready would take the engine out of its Service")
				}
			}
			file := filepath.Join(mountedConfig(t, objects), "synthetic.yml")
			if out, err := exec.CommandContext(t.Context(), tool(t, "SYNTHETIC"), "check", file).CombinedOutput(); err != nil {
				t.Errorf("synthetic check: %v\n%s", err, out)
			}
		})
	}
}

// TestExamplesAreDocumented: a page of docs/how-to links each example file.
func TestExamplesAreDocumented(t *testing.T) {
	pages, err := filepath.Glob("../../../docs/how-to/*.md")
	if err != nil || len(pages) == 0 {
		t.Fatalf("no pages: %v", err)
	}
	var all strings.Builder
	for _, page := range pages {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		all.Write(text)
	}
	files, err := filepath.Glob(examplesDir + "/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no examples: %v", err)
	}
	for _, file := range files {
		if name := filepath.Base(file); !strings.Contains(all.String(), "](../../examples/kubernetes/"+name+")") {
			t.Errorf("no page of docs/how-to links %s", name)
		}
	}
}

// TestTheLastUpload ends the upload container's script while it waits. The script must
// upload once more before it exits.
func TestTheLastUpload(t *testing.T) {
	job := decodeAs[batch.Job](t, single(t, render(t, "--values="+examplesDir+"/study-bucket-values.yaml"), "Job"))
	var upload core.Container
	for _, c := range job.Spec.Template.Spec.InitContainers {
		if c.Name == "upload" {
			upload = c
		}
	}
	dir := t.TempDir()
	for name, script := range map[string]string{
		"rclone": `echo "rclone $*"`,
		"sleep":  `kill -TERM $PPID`,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+script+"\n"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	c := exec.CommandContext(t.Context(), upload.Command[0], append(upload.Command[1:], upload.Args...)...)
	c.Env = []string{"PATH=" + dir + ":" + os.Getenv("PATH"), "BUCKET=store:studies", "JOB_NAME=rel"}
	out, err := c.CombinedOutput()
	if want := "rclone copy /results store:studies/rel\n"; err != nil || !strings.HasSuffix(string(out), want) {
		t.Errorf("%v\n%s\nwant %q at the end", err, out, want)
	}
}
