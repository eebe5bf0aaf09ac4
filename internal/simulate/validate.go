package simulate

import (
	"errors"
	"fmt"
	"slices"

	"synthetic/internal/simulate/cluster"
)

// Validate returns what is wrong with the options, nil if nothing is.
func (o Options) Validate() error {
	var errs []error
	if o.Cluster == nil && (len(o.Rollouts) > 0 || o.Load.Concurrency > 0 || o.Speed != 0) {
		errs = append(errs, errors.New("rollouts, load and speed are about a cluster: set one"))
	}
	if o.Speed < 0 || o.Speed > 1e6 {
		errs = append(errs, fmt.Errorf("speed is %v: give a factor above 0, at most 1e6", o.Speed))
	}
	if o.Load.Concurrency < 0 || o.Load.WarmUp < 0 {
		errs = append(errs, fmt.Errorf("load has concurrency %d and warm-up %v: neither may be negative", o.Load.Concurrency, o.Load.WarmUp))
	}
	for i, f := range o.Incidents {
		if err := f.validate(o.Cluster != nil); err != nil {
			errs = append(errs, fmt.Errorf("incident %d (%s): %w", i+1, f.Kind, err))
		}
	}
	if o.Cluster == nil {
		return errors.Join(errs...)
	}
	errs = append(errs, o.check(*o.Cluster))
	for i, r := range o.Rollouts {
		if err := o.check(r.Cluster); err != nil {
			errs = append(errs, fmt.Errorf("rollout %d: %w", i+1, err))
		}
		if r.At <= 0 || i > 0 && r.At <= o.Rollouts[i-1].At {
			errs = append(errs, fmt.Errorf("rollout %d comes at %v: give times above 0, in order", i+1, r.At))
		}
	}
	return errors.Join(errs...)
}

// check checks a cluster, with the incidents.
func (o Options) check(c cluster.Config) error {
	c.Faults = slices.Concat(c.Faults, o.clusterFaults(0, 0))
	return c.Validate()
}
