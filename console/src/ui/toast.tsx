import { signal } from '@preact/signals'
import { asProblem } from '../api/use-load.ts'
import { common } from '../i18n/common.ts'
import { IconButton } from './button.tsx'
import { messageOf } from './states.tsx'

interface Message {
  readonly id: number
  readonly text: string
  readonly tone: 'good' | 'bad'
}

/** Milliseconds a message stays; what failed stays until it is closed. */
const SHOWN = 5000

const messages = signal<readonly Message[]>([])
let count = 0

/** Says in a corner that something was done. */
export function toast(text: string, tone: Message['tone'] = 'good'): void {
  const id = ++count
  messages.value = [...messages.value.slice(-3), { id, text, tone }]
  if (tone === 'good') setTimeout(() => close(id), SHOWN)
}

/** Says that something failed, for `catch`. */
export const toastProblem = (thrown: unknown): void => toast(messageOf(asProblem(thrown)), 'bad')

const close = (id: number): void => {
  messages.value = messages.value.filter(one => one.id !== id)
}

export const Toasts = () => (
  <div class="toasts" role="status" aria-live="polite">
    {messages.value.map(({ id, text, tone }) => (
      <div key={id} class={`toast ${tone}`}>
        <span>{text}</span>
        <IconButton icon="close" label={common().close} small onClick={() => close(id)} />
      </div>
    ))}
  </div>
)
