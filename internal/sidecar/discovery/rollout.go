package discovery

import (
	"cmp"
	"slices"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
)

// Rollout is a new pod template of the targets of a group, or of one service in it.
type Rollout struct {
	Group string
	// Targets are the names of the targets, with the group, in order; empty means all targets of the group.
	Targets []string
	// Images are the container images of the new template, separated by spaces.
	Images string
}

// template returns the images and the revision of the pod template in the labels of a discovered object, or of the
// object joined with it.
func template(found labels.Labels) (images, revision string) {
	const meta = model.MetaLabelPrefix + "kubernetes_"
	for _, prefix := range []string{meta, meta + "with_"} {
		if images := found.Get(prefix + "images"); images != "" {
			return images, cmp.Or(found.Get(prefix+"label_pod_template_hash"), found.Get(prefix+"label_controller_revision_hash"))
		}
	}
	return "", ""
}

// rollouts returns the pod templates of services that the targets had not before. The first template of a service is
// none. A target without a service is compared with the earlier target of the same name.
func rollouts(group string, before, after []Target) (out []Rollout) {
	isNew := func(changed Target) bool {
		isKnown, isSame := false, false
		for _, t := range before {
			if t.Images != "" && sameService(t, changed) {
				isKnown, isSame = true, isSame || t.Images == changed.Images && t.Revision == changed.Revision
			}
		}
		return changed.Images != "" && isKnown && !isSame
	}
	isSingle := !slices.ContainsFunc(after, func(t Target) bool { return !sameService(t, after[0]) })
	for _, changed := range after {
		isTold := slices.ContainsFunc(out, func(r Rollout) bool {
			return r.Images == changed.Images && (isSingle || slices.Contains(r.Targets, group+"/"+changed.Name))
		})
		if isTold || !isNew(changed) {
			continue
		}
		r := Rollout{Group: group, Images: changed.Images}
		for _, t := range after {
			if !isSingle && (t.Service == changed.Service && (t.Service != "" || t.Images == changed.Images && isNew(t))) {
				r.Targets = append(r.Targets, group+"/"+t.Name)
			}
		}
		slices.Sort(r.Targets)
		out = append(out, r)
	}
	return out
}

// sameService reports whether two targets are replicas of one service, or the same target without a service.
func sameService(a, b Target) bool {
	return a.Service == b.Service && (a.Service != "" || a.Name == b.Name)
}
