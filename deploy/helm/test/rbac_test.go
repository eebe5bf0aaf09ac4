package chart

import (
	"slices"
	"testing"

	rbac "k8s.io/api/rbac/v1"
)

// TestDiscoveryMayReadAndNoMore: the rights are read-only, cover the named namespaces or
// all, and are bound to the pods' service account.
func TestDiscoveryMayReadAndNoMore(t *testing.T) {
	objects := render(t, "--values="+chartDir+"/ci/secret-values.yaml", "--set=rbac.namespaces={models,canaries}")
	var in []string
	for _, o := range objects {
		switch o.Kind {
		case "Role":
			in = append(in, o.Metadata.Namespace)
			readsOnly(t, decodeAs[rbac.Role](t, o).Rules)
		case "RoleBinding":
			b := decodeAs[rbac.RoleBinding](t, o)
			binds(t, b.RoleRef, b.Subjects, "Role", b.Name, podsOf(t, objects).Spec.ServiceAccountName)
		}
	}
	slices.Sort(in)
	if !slices.Equal(in, []string{"canaries", "models"}) {
		t.Errorf("roles in %q", in)
	}
	wide := render(t, "--values="+chartDir+"/ci/existing-values.yaml")
	role := decodeAs[rbac.ClusterRole](t, single(t, wide, "ClusterRole"))
	readsOnly(t, role.Rules)
	b := decodeAs[rbac.ClusterRoleBinding](t, single(t, wide, "ClusterRoleBinding"))
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
