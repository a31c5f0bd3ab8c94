import { type Cell, nameOf } from './cell.ts'

/** A cell that fails because of its client or provider. The gateway cannot prevent the failure. */
interface Known {
  /** Pattern of the names of such cells. */
  readonly cells: RegExp
  readonly why: string
}

const KNOWN: readonly Known[] = [
  {
    cells: /^langchain-js-responses × .* × cut-/,
    why: 'it overlooks response.failed and runs what it has of the call',
  },
  {
    cells: /^langchain-js-contents × .* × cut-text/,
    why: 'the SDK below it overlooks an error in a stream',
  },
  {
    cells: /^litellm-messages × gemini-3 × /,
    why: 'it puts a text of its own between a thought and its calls, which then has the proof',
  },
  {
    cells: /^mistral-py × (chat|deepseek) × session$/,
    why: 'its turns have a field of Mistral alone (prefix), which upstreams of chat get as it came',
  },
  {
    cells: /^pi-messages × messages × /,
    why: 'it asks models that it does not know for a budget of thinking, which adaptive models refuse',
  },
  {
    cells: /^semantic-kernel-contents × (contents|gemini-3) × session$/,
    why: 'its results have the role function, which Gemini takes no more, and go to it as they came',
  },
]

/** Returns the reason why a cell may fail. Undefined if it must not. */
export const excuseOf = (cell: Cell): string | undefined => KNOWN.find(({ cells }) => cells.test(nameOf(cell)))?.why
