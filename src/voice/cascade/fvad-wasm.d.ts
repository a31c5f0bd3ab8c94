/** The package has no types: what is used of libfvad's functions, compiled by Emscripten. */
declare module '@echogarden/fvad-wasm' {
  interface Fvad {
    readonly HEAP16: Int16Array
    _malloc(bytes: number): number
    /** Address of a new detector, 0 without memory. */
    _fvad_new(): number
    _fvad_free(detector: number): void
    _fvad_reset(detector: number): void
    /** 0 to 3, the last one least likely to take anything for speech; -1 for another mode. */
    _fvad_set_mode(detector: number, mode: number): number
    _fvad_set_sample_rate(detector: number, rate: number): number
    /** 1 for speech, 0 for none, -1 for a frame that is not of 10, 20 or 30 milliseconds. */
    _fvad_process(detector: number, frame: number, samples: number): number
  }
  export default function load(): Promise<Fvad>
}
