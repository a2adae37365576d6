// Package webhook delivers entries over HTTP as signed webhooks, and receives them.
//
// # Sending
//
// A [Handler] serves the destination type HTTP. The destination of an entry is the
// id of an [Endpoint], which a [Source] knows: a [Registry], or one of your own. A
// stored row never holds a URL, so whoever can write rows cannot choose where this
// process connects to, and an endpoint can move while entries wait for it. A node
// claims entries for the endpoints that it knows at that moment.
//
// One delivery is one POST with the payload, byte for byte, and these headers:
//
//	Content-Type                  application/json, or the raw payload's own
//	Webhook-Id                    the message id: the same on every attempt
//	Webhook-Timestamp             the time of the attempt, Unix seconds
//	Webhook-Signature             "v1,<base64>" for each secret, see below
//	Satchel-Event-Type            the event type
//	traceparent, tracestate, baggage   W3C context, if it was captured
//	Satchel-<namespace>           other propagation context
//	User-Agent                    configurable
//
// then the endpoint's own headers, and the application's. Some application headers
// are withheld: those that belong to the connection or describe the body (Connection,
// Host, Content-Length, Transfer-Encoding, ...), credentials (Authorization,
// Cookie), which only the endpoint gives, names that begin with "webhook-" or with
// the prefix, and User-Agent. An application header that HTTP cannot carry, because its
// name is not a token or its value has a control character, makes the entry
// permanently undeliverable; the error names the key.
//
// The signature follows the Standard Webhooks scheme: HMAC-SHA256 over
// "<id>.<timestamp>.<body>", so any library for that scheme can verify it. With
// several secrets there are several signatures, and a receiver that knows any one of
// the secrets accepts: give the new and the old secret while one is replaced.
//
// # Reading the answer
//
//	2xx                                delivered
//	408, 425, 429, 5xx                 retryable, honouring Retry-After up to a day
//	307, 308 to the same scheme, host and port   followed, three times at most
//	every other status                 permanent; among them 410 Gone, with which a
//	                                   receiver says that it wants no more
//	no connection                      unavailable: no attempt is charged, the relay
//	                                   pauses this endpoint until a probe succeeds
//	a connection, but no answer        retryable: the receiver may have the message
//	only addresses that are refused    permanent
//	payload too large, bad header      permanent
//	endpoint unknown or misconfigured  unresolvable: waits, no attempt is charged
//
// No connection means: the name does not resolve, nobody listens, the time is up
// before there is a connection, or TLS fails. A certificate that is not accepted is
// in this group, since nothing was sent, it concerns every message alike, and it
// passes when the certificate is renewed. Errors are [*StatusError] and
// [*RequestError]; their texts hold neither URL, address nor anything that the
// endpoint answered. An application that wants to switch an endpoint off after 410
// looks for a *StatusError in the relay's observer and calls [Registry.Remove].
//
// # Where requests may go
//
// Unless its endpoint says AllowPrivate, a request goes to public addresses only:
// not to loopback, private, link-local, shared, multicast, reserved, documentation
// or metadata addresses, in IPv4, IPv6 or one within the other. The check is made
// on every address as it is connected to, so it covers redirects and names that
// change. Proxies from the environment are not used, since they would connect
// unchecked; Config.Proxy adds one that checks for itself.
//
// # Receiving
//
// [NewReceiver] gives an http.Handler that verifies a webhook, restores its context,
// does the work once per message id in a transaction of the application's, and
// answers after the commit. [Verify] is the check alone.
//
// # Not guaranteed
//
// That a message arrives once: a receiver must recognise the message id. That an
// endpoint that is never reachable is given up: its entries wait until it is back or
// removed by an operator. That headers other than the three of the scheme are
// genuine: only these and the body are signed. Confidentiality without https.
//
// A handler has no fingerprint: the id is the endpoint's identity, and a change of
// its URL is meant for the entries that wait as well.
package webhook
