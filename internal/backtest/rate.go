package backtest

import "gonum.org/v1/gonum/mathext"

// month is what rates are given for, in days.
const month = 30

// Rate is how many of something there were in a time, and how many that makes in
// 30 days, with the 95 % interval of a Poisson count (Garwood's, which is exact).
type Rate struct {
	Count     int     `json:"count"`
	CountLow  float64 `json:"count_low"`
	CountHigh float64 `json:"count_high"`
	// All null without any day.
	Per30Days     *float64 `json:"per_30_days"`
	Per30DaysLow  *float64 `json:"per_30_days_low"`
	Per30DaysHigh *float64 `json:"per_30_days_high"`
}

// NewRate is the rate of a count in some days.
func NewRate(count int, days float64) Rate {
	low, high := garwood(count)
	r := Rate{Count: count, CountLow: low, CountHigh: high}
	if days > 0 {
		r.Per30Days = finite(float64(count) * month / days)
		r.Per30DaysLow, r.Per30DaysHigh = finite(low*month/days), finite(high*month/days)
	}
	return r
}

// garwood are the means at which a Poisson count at least, and at most, as large
// is just 2.5 % likely.
func garwood(count int) (low, high float64) {
	const tail = 0.025
	if count > 0 {
		low = mathext.GammaIncRegInv(float64(count), tail)
	}
	return low, mathext.GammaIncRegInv(float64(count)+1, 1-tail)
}
