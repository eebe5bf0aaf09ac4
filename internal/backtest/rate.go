package backtest

import "gonum.org/v1/gonum/mathext"

// month is the number of days that rates are given for.
const month = 30

// Rate is a count and the same per 30 days, each with the exact 95 % interval of a Poisson
// count (Garwood).
type Rate struct {
	Count     int     `json:"count"`
	CountLow  float64 `json:"count_low"`
	CountHigh float64 `json:"count_high"`
	// The rates are null without any day.
	Per30Days     *float64 `json:"per_30_days"`
	Per30DaysLow  *float64 `json:"per_30_days_low"`
	Per30DaysHigh *float64 `json:"per_30_days_high"`
}

// newRate returns the rate of a count in some days.
func newRate(count int, days float64) Rate {
	low, high := garwood(count)
	r := Rate{Count: count, CountLow: low, CountHigh: high}
	if days > 0 {
		r.Per30Days = finite(float64(count) * month / days)
		r.Per30DaysLow, r.Per30DaysHigh = finite(low*month/days), finite(high*month/days)
	}
	return r
}

// garwood returns the ends of the 95 % interval. At the low mean, a count at least as large has
// a probability of 2.5 %; at the high mean, a count at most as large has.
func garwood(count int) (low, high float64) {
	const tail = 0.025
	if count > 0 {
		low = mathext.GammaIncRegInv(float64(count), tail)
	}
	return low, mathext.GammaIncRegInv(float64(count)+1, 1-tail)
}
