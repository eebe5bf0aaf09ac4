package worlds

import (
	"fmt"
	"math/rand/v2"
	"time"
)

// SealedSeeds are the seeds of sealed models. No constant of the detection was chosen on a run of
// them.
func SealedSeeds() []uint64 { return []uint64{70_001, 70_002, 70_003, 70_004} }

// Sealed returns the sealed models: each kind of Routines with other parameters. No constant of the
// detection was chosen on them. Run them to check a finished detector, not to improve it.
func Sealed() []Model {
	saturdaySunday := []time.Weekday{time.Saturday, time.Sunday}
	hours := func(low, high float64) func(*rand.Rand) time.Duration { return between(inHours(low), inHours(high)) }
	all := []Model{
		officeModel("sealed-office-utc", "UTC", office{1.6, 7.5, 16, 0.8, 0.15, saturdaySunday}),
		officeModel("sealed-us", "America/Chicago", office{1.5, 8, 18, 0.4, 0.3, saturdaySunday}),
		dstModel("sealed-dst", "America/New_York", time.Date(2026, 10, 12, 0, 0, 0, 0, time.UTC), office{1.4, 9.5, 18, 0.4, 0.2, saturdaySunday}),
		officeModel("sealed-kathmandu", "Asia/Kathmandu", office{1.7, 9, 17, 0.7, 0, []time.Weekday{time.Saturday}}),
		officeModel("sealed-cairo", "Africa/Cairo", office{1.6, 9, 15.5, 0.4, 0, []time.Weekday{time.Friday, time.Saturday}}),
		officeModel("sealed-no-weekend", "Asia/Singapore", office{1.6, 11, 23, 1.3, 0, nil}),
		routineModel("sealed-saturday-job", "America/New_York", "a job every Saturday from 23:00, for 2 to 3 hours, ×1.6 to ×1.7",
			routine(on(time.Saturday), 23, hours(2, 3), times(1.6, 1.7))),
		routineModel("sealed-month-end", "Asia/Kolkata", "a job at 18:00 on the last working day and on the first day of a month, for 3 to 5 hours, ×1.7 to ×2.2",
			routine(monthEnd, 18, hours(3, 5), times(1.7, 2.2))),
		routineModel("sealed-fortnightly", "Europe/London", "a job at 08:00 every second Wednesday, for 2 to 4 hours, ×1.6 to ×2",
			routine(everySecond(time.Wednesday), 8, hours(2, 4), times(1.6, 2))),
		flushModel("sealed-cache-flush", 3, 8*time.Minute, 3),
		batchModel("sealed-long-batches", 6, between(3*time.Minute, 8*time.Minute), "3 to 8 min", 0.25, 0.5),
		ownBatchModel("sealed-own-batches", 6, between(3*time.Minute, 8*time.Minute), "3 to 8 min", 0.25, 0.5),
		sizeModel("sealed-mixed-sizes", sizeMix{35 * time.Microsecond, 1000, 200_000, 15_000, 1.3, 1500, nil}, 1.6, 5, 5),
		failoverModel("sealed-failover", 3, 100*time.Millisecond, hours(3, 12), "3 to 12 hours"),
		rollbackModel("sealed-rollback", 3, 1.3, hours(1, 2), "1 to 2 hours"),
	}
	for i, w := range []struct {
		zone string
		office
	}{
		{"UTC", office{1.5, 8, 16.5, 0.8, 0.1, saturdaySunday}},
		{"Europe/Helsinki", office{1.4, 8.5, 17, 0.5, 0.25, saturdaySunday}},
		{"America/Denver", office{2.3, 8, 17, 0.5, 0.2, saturdaySunday}},
		{"Australia/Sydney", office{2.8, 9, 18, 0.9, 0.1, saturdaySunday}},
		{"America/Sao_Paulo", office{1.7, 10, 20, 0.4, 0.4, []time.Weekday{time.Sunday}}},
		{"Asia/Riyadh", office{2.1, 9, 17, 0.6, 0, []time.Weekday{time.Friday, time.Saturday}}},
	} {
		all = append(all, officeModel(fmt.Sprintf("sealed-first-week-%d", i+1), w.zone, w.office))
	}
	for i := range all {
		all[i].builtin.heldOut = true
	}
	return all
}
