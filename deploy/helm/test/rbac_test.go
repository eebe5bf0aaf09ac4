package chart

import (
	"os"
	"slices"
	"strings"
	"testing"

	rbac "k8s.io/api/rbac/v1"
	"sigs.k8s.io/yaml"
)

// TestDiscoveryMayReadWhatItsPresetsWatch reads the presets where they are kept.
func TestDiscoveryMayReadWhatItsPresetsWatch(t *testing.T) {
	type watched struct{ Resource string }
	var file struct {
		Presets []struct {
			Name       string
			Kubernetes struct {
				watched
				With watched
			}
		}
	}
	text, err := os.ReadFile("../../../internal/config/presets.yml")
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal(text, &file); err != nil || len(file.Presets) == 0 {
		t.Fatalf("%d presets: %v", len(file.Presets), err)
	}
	wide := render(t, "--values="+chartDir+"/ci/existing-values.yaml")
	rules := into[rbac.ClusterRole](t, one(t, wide, "ClusterRole")).Rules
	for _, preset := range file.Presets {
		for _, name := range []string{preset.Kubernetes.Resource, preset.Kubernetes.With.Resource} {
			if name != "" && !allowed(rules, name) {
				t.Errorf("preset %s watches %s, which no rule allows", preset.Name, name)
			}
		}
	}
}

// allowed says whether RESOURCE.VERSION.GROUP, or RESOURCE.VERSION of the core
// group, may be listed.
func allowed(rules []rbac.PolicyRule, name string) bool {
	resource, rest, _ := strings.Cut(name, ".")
	_, group, _ := strings.Cut(rest, ".")
	return slices.ContainsFunc(rules, func(r rbac.PolicyRule) bool {
		return slices.Contains(r.APIGroups, group) && slices.Contains(r.Resources, resource)
	})
}

// TestDiscoveryMayReadAndNoMore: in the named namespaces or in all, bound to the
// account that the pods run as.
func TestDiscoveryMayReadAndNoMore(t *testing.T) {
	objects := render(t, "--values="+chartDir+"/ci/secret-values.yaml", "--set=rbac.namespaces={models,canaries}")
	var in []string
	for _, o := range objects {
		switch o.Kind {
		case "Role":
			in = append(in, o.Metadata.Namespace)
			readsOnly(t, into[rbac.Role](t, o).Rules)
		case "RoleBinding":
			b := into[rbac.RoleBinding](t, o)
			binds(t, b.RoleRef, b.Subjects, "Role", b.Name, podsOf(t, objects).Spec.ServiceAccountName)
		}
	}
	slices.Sort(in)
	if !slices.Equal(in, []string{"canaries", "models"}) {
		t.Errorf("roles in %q", in)
	}
	wide := render(t, "--values="+chartDir+"/ci/existing-values.yaml")
	role := into[rbac.ClusterRole](t, one(t, wide, "ClusterRole"))
	readsOnly(t, role.Rules)
	b := into[rbac.ClusterRoleBinding](t, one(t, wide, "ClusterRoleBinding"))
	binds(t, b.RoleRef, b.Subjects, "ClusterRole", role.Name, podsOf(t, wide).Spec.ServiceAccountName)
}

func readsOnly(t *testing.T, rules []rbac.PolicyRule) {
	t.Helper()
	if len(rules) == 0 {
		t.Error("no rules")
	}
	for _, r := range rules {
		if !slices.Equal(r.Verbs, []string{"list", "watch"}) || slices.Contains(r.Resources, "secrets") || slices.Contains(r.Resources, "*") {
			t.Errorf("got %+v", r)
		}
	}
}

func binds(t *testing.T, ref rbac.RoleRef, to []rbac.Subject, kind, role, account string) {
	t.Helper()
	if ref.Kind != kind || ref.Name != role || len(to) != 1 || to[0].Name != account || to[0].Namespace != "probing" {
		t.Errorf("%+v to %+v, want %s %s to %s", ref, to, kind, role, account)
	}
}
