import { post } from '../../api/request.ts'
import type { Channel } from '../../api/types.ts'
import { Confirm } from '../../ui/confirm.tsx'
import { Icon } from '../../ui/icon.tsx'
import { toast } from '../../ui/toast.tsx'
import { text } from './texts.ts'
import { useModelsOf } from './use-models.ts'

interface DrainDialogProps {
  readonly of: Channel
  readonly onDone: () => unknown
  readonly onClose: () => void
}

const change = async (action: 'drain' | 'resume', { of, onDone }: DrainDialogProps): Promise<void> => {
  await post(`/channels/${encodeURIComponent(of.name)}/${action}`)
  toast(text()[action].done(of.name))
  void onDone()
}

/** Dialog that asks before a channel is drained and shows the effect on its models. */
export function DrainDialog(props: DrainDialogProps) {
  const words = text().drain
  const { of, onClose } = props
  return (
    <Confirm
      title={words.title(of.name)}
      action={text().actions.drain}
      danger
      onConfirm={() => change('drain', props)}
      onClose={onClose}
    >
      <p>{words.text}</p>
      {of.in_flight > 0 && <p>{words.running(of.in_flight)}</p>}
      <Consequence of={of} />
    </Confirm>
  )
}

/** Dialog that asks before a channel is resumed. */
export const ResumeDialog = (props: DrainDialogProps) => (
  <Confirm
    title={text().resume.title(props.of.name)}
    action={text().actions.resume}
    onConfirm={() => change('resume', props)}
    onClose={props.onClose}
  >
    <p>{text().resume.text}</p>
  </Confirm>
)

/** Warning with the number of models that no other channel would serve. */
function Consequence({ of }: { readonly of: Channel }) {
  const words = text().drain
  const models = useModelsOf(of.name)
  if (models.data === undefined) return null
  const alone = models.data.filter(({ channels }) =>
    channels.every(({ name, state }) => name === of.name || state === 'drained'),
  )
  const isFine = alone.length === 0
  return (
    <p class={isFine ? 'callout' : 'callout warn'}>
      <Icon name={isFine ? 'info' : 'warning'} />
      <span>{isFine ? words.others : words.only(alone.length)}</span>
    </p>
  )
}
