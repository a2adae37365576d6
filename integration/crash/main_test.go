package crash

import (
	"testing"

	"github.com/satchel-go/satchel/integration/internal/lab"
)

func TestMain(m *testing.M) {
	lab.Main(m, map[string]lab.Role{"publisher": publisher, "relay": runRelay, "recovery": recovery, "transactional": transactional})
}
