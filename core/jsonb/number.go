package jsonb

// PostgreSQL keeps the numbers of a document as numeric, which ends at so many digits
// before and after the point.
const (
	maxWhole    = 131072
	maxFraction = 16383
)

// checkNumber reports whether the number whose first digit is at i fits; end is the
// index of its last byte. It counts digits as they are written, so 0e200000 does not
// fit either, although a zero needs no digits.
func checkNumber(doc []byte, i int) (end int, ok bool) {
	var whole, fraction int
	for ; i < len(doc) && numeric(doc[i]); i++ {
		whole++
	}
	if i < len(doc) && doc[i] == '.' {
		for i++; i < len(doc) && numeric(doc[i]); i++ {
			fraction++
		}
	}
	shift := 0
	if i < len(doc) && (doc[i] == 'e' || doc[i] == 'E') {
		shift, i = exponent(doc, i+1)
	}
	return i - 1, whole+shift <= maxWhole && fraction-shift <= maxFraction
}

// exponent reads a sign and digits at i, and returns the index after them. A large
// exponent is cut to one that is large enough to be out of range.
func exponent(doc []byte, i int) (shift, after int) {
	const large = 1 << 30
	negative := false
	for ; i < len(doc); i++ {
		switch c := doc[i]; {
		case c == '-':
			negative = true
		case c == '+':
		case numeric(c):
			shift = min(large, shift*10+int(c-'0'))
		default:
			return signed(shift, negative), i
		}
	}
	return signed(shift, negative), i
}

func signed(n int, negative bool) int {
	if negative {
		return -n
	}
	return n
}

func numeric(c byte) bool { return c >= '0' && c <= '9' }
