/** Types for the used part of libfvad (compiled by Emscripten). The package has no types. */
declare module '@echogarden/fvad-wasm' {
  interface Fvad {
    readonly HEAP16: Int16Array
    _malloc(bytes: number): number
    /** Returns the address of a new detector, or 0 if memory is exhausted. */
    _fvad_new(): number
    _fvad_free(detector: number): void
    _fvad_reset(detector: number): void
    /** Sets the mode from 0 to 3, where 3 is the least likely to report speech. Returns -1 for an invalid mode. */
    _fvad_set_mode(detector: number, mode: number): number
    _fvad_set_sample_rate(detector: number, rate: number): number
    /** Returns 1 for speech, 0 for silence, -1 for a frame that is not 10, 20 or 30 milliseconds long. */
    _fvad_process(detector: number, frame: number, samples: number): number
  }
  export default function load(): Promise<Fvad>
}
