package diagnose

// Memo returns what compute says about a Case, and computes it once: many rules ask the
// same question, and there can be thousands of Events. key stands for the question; a
// value of a type of its own keeps it apart from those of others. The result is shared,
// so that nobody may change it.
func Memo[T any](c *Case, key any, compute func(*Case) T) T {
	if known, ok := c.memo[key]; ok {
		return known.(T)
	}
	answer := compute(c)
	c.memo[key] = answer
	return answer
}
