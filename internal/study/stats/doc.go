// Package stats estimates quantiles, shares and ratios with 95 % confidence intervals, and what
// counted turns prove about the objectives of a level and the capacity of a variant. Its results
// hold if turns that are close in time are correlated. The sweep and the report use the same code.
//
// The method for intervals:
//
//   - The interval of a quantile is the interval of a share, inverted: of the share of values at
//     or below the estimate. The ends of that interval are read off the distribution (Woodruff,
//     "Confidence intervals for medians and other position measures", JASA 1952).
//   - The variance of a share comes from blocks of time. It is the larger of two estimates: that
//     of a first-order autoregressive process (Box and Jenkins, "Time Series Analysis", 1970), and
//     that with the covariances of more distant blocks (Newey and West, "A simple, positive
//     semi-definite, heteroskedasticity and autocorrelation consistent covariance matrix",
//     Econometrica 1987). Its ratio to the variance of independent turns is the design effect.
//     The number of turns divided by it is the effective number (Kish, "Survey Sampling", 1965).
//   - The ends are fractional order statistics for the effective number (Hutson, "Calculating
//     nonparametric confidence intervals for quantiles using fractional order statistics", Journal
//     of Applied Statistics 1999). The effective number is reduced further because the variance
//     is an estimate (Korn and Graubard, "Confidence intervals for proportions with small expected
//     number of positive counts estimated from survey data", Survey Methodology 1998).
//   - If that gives no interval although there are enough turns, the quantiles of batches of
//     blocks give one (see batchInterval).
//
// Verdicts use the same design effect, with a margin (see Evidence.DesignEffect).
package stats
