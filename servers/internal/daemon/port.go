package daemon

import "net"

// FreePort returns a loopback port that the kernel had free a moment ago. Somebody else may take it before the server
// does; a server that then fails to start is simply started again on another one.
func FreePort() (int, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	defer func() { _ = listener.Close() }()
	return listener.Addr().(*net.TCPAddr).Port, nil
}
