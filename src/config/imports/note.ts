/** A note about a part of the other gateway's file that is not in the config. */
export interface Note {
  readonly path: string
  readonly text: string
}
