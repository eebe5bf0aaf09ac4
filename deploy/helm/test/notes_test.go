package chart

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestNotes renders the notes as a resource, because "helm template" omits them.
func TestNotes(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "synthetic")
	if err := os.CopyFS(dir, os.DirFS(chartDir)); err != nil {
		t.Fatal(err)
	}
	notes, err := os.ReadFile(dir + "/templates/NOTES.txt")
	if err != nil {
		t.Fatal(err)
	}
	// The notes trim the white space before them, up to this mark.
	resource := "notes: |2\n  >" + strings.ReplaceAll(string(notes), "\n", "\n  ")
	if err := os.WriteFile(dir+"/templates/notes.yaml", []byte(resource), 0o600); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		values     string
		have, lack []string
	}{
		{"minimal", []string{"from 1 pod(s)", "port-forward service/rel-synthetic 9877:9877", "--namespace probing test rel", "Nothing tells Prometheus", "No alerts are installed"}, []string{"full configured rate", "Kubernetes updates"}},
		{"full", []string{"from 2 pod(s)", "https://127.0.0.1:9877/", "Each of the 2 pods"}, []string{"Nothing tells Prometheus", "No alerts"}},
		{"file", []string{"logs deployment/rel-synthetic"}, []string{"port-forward", " test rel"}},
		{"existing", []string{"port-forward", "load a changed configuration within 15s"}, []string{" test rel"}},
		{"study", []string{"measures.", "logs job/rel-synthetic --follow", "persistent volume claim rel-synthetic-results"}, []string{"Nothing tells Prometheus", "port-forward", "No alerts"}},
		{"alone", []string{"/results/rel of its pod"}, nil},
	}
	for _, test := range tests {
		t.Run(test.values, func(t *testing.T) {
			out, errs, err := helmOn(t, dir, "--values="+dir+"/ci/"+test.values+"-values.yaml", "--show-only=templates/notes.yaml")
			if err != nil {
				t.Fatalf("%v\n%s", err, errs)
			}
			for _, want := range test.have {
				if !strings.Contains(out, want) {
					t.Errorf("the notes lack %q:\n%s", want, out)
				}
			}
			for _, other := range test.lack {
				if strings.Contains(out, other) {
					t.Errorf("the notes say %q:\n%s", other, out)
				}
			}
		})
	}
}
