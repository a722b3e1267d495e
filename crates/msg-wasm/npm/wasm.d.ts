/** A module of the package as a bundler gives it, for `init`: a `WebAssembly.Module`, or its bytes. */
declare const source: object;
export default source;
