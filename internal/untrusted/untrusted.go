// Package untrusted decodes data files of an app. Anybody may have written an app, so each decoder bounds the size of
// the text, the depth of nesting and the size after expansion.
//
// Begin with [DecodeTOML], and with [ReadSettings] for files of any kind.
package untrusted
