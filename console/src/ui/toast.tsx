import { signal } from '@preact/signals'
import { asProblem } from '../api/use-load.ts'
import { common } from '../i18n/common.ts'
import { IconButton } from './button.tsx'
import { topDialog } from './open-dialogs.ts'
import { messageOf } from './states.tsx'

interface Message {
  readonly id: number
  readonly text: string
  readonly tone: 'good' | 'bad'
}

/** Time for which a success message is shown, in milliseconds. Error messages stay until the user closes them. */
const SHOWN = 5000

const messages = signal<readonly Message[]>([])
let count = 0

/** Shows a short message in the corner of the page. */
export function toast(text: string, tone: Message['tone'] = 'good'): void {
  const id = ++count
  messages.value = [...messages.value.slice(-3), { id, text, tone }]
  if (tone === 'good') setTimeout(() => close(id), SHOWN)
}

/** Shows the message of an error. Meant for `catch`. */
export const toastProblem = (thrown: unknown): void => toast(messageOf(asProblem(thrown)), 'bad')

const close = (id: number): void => {
  messages.value = messages.value.filter(one => one.id !== id)
}

interface ToastsProps {
  /** Dialog that has the area. Absent for the page below all dialogs. */
  readonly within?: string
}

/** Area with the messages shown now. A modal dialog covers all others, so that only the area of the top one has them. */
export const Toasts = ({ within }: ToastsProps) => (
  <div class="toasts" role="status" aria-live="polite">
    {topDialog.value === within &&
      messages.value.map(({ id, text, tone }) => (
        <div key={id} class={`toast ${tone}`}>
          <span>{text}</span>
          <IconButton icon="close" label={common().close} small onClick={() => close(id)} />
        </div>
      ))}
  </div>
)
