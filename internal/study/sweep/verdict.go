package sweep

import (
	"synthetic/internal/study/runfile"
	"synthetic/internal/study/stats"
)

func (p Plan) judge() stats.Judge {
	return stats.Judge{Objectives: p.objectives(), Confidence: p.Confidence}
}

// capacities returns the capacity of each variant;
// nil without objectives.
func (p Plan) capacities(run *runfile.Run) []runfile.Capacity {
	if len(p.SLOs) == 0 {
		return nil
	}
	var out []runfile.Capacity
	for _, v := range p.Variants {
		out = append(out, p.judge().Capacity(v.Name, run))
	}
	return out
}
