import { useState } from 'preact/hooks'
import type { ProblemError } from '../../api/problem.ts'
import { post } from '../../api/request.ts'
import type { Channel, ChannelTest } from '../../api/types.ts'
import { asProblem } from '../../api/use-load.ts'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Field, Select } from '../../ui/field.tsx'
import { Problem } from '../../ui/states.tsx'
import { type Tested, TestResult } from './test-result.tsx'
import { text } from './texts.ts'
import { useModelsOf } from './use-models.ts'
import { Waiting } from './waiting.tsx'

interface TestDialogProps {
  readonly of: Channel
  /** Called after each test. A failed test counts as an error of the channel. */
  readonly onTested: () => unknown
  readonly onClose: () => void
}

/** Number of results kept in the dialog for comparison. */
const KEPT = 10

/** Dialog that sends small test requests to a channel. */
export function TestDialog({ of, onTested, onClose }: TestDialogProps) {
  const words = text().test
  const [model, setModel] = useState('')
  const [isRunning, setRunning] = useState(false)
  const [results, setResults] = useState<readonly Tested[]>([])
  const [problem, setProblem] = useState<ProblemError>()
  const run = async (): Promise<void> => {
    if (isRunning) return
    setRunning(true)
    setProblem(undefined)
    try {
      const path = `/channels/${encodeURIComponent(of.name)}/test`
      const result = await post<ChannelTest>(path, model === '' ? {} : { model })
      setResults(before => [{ at: new Date().toISOString(), ...result }, ...before].slice(0, KEPT))
    } catch (thrown) {
      setProblem(asProblem(thrown))
    }
    setRunning(false)
    onTested()
  }
  return (
    <Dialog
      title={words.title(of.name)}
      wide
      onClose={onClose}
      onSubmit={run}
      footer={
        <Button kind="primary" icon="play" type="submit" busy={isRunning}>
          {results.length === 0 ? words.send : words.again}
        </Button>
      }
    >
      <p>{words.lead}</p>
      <ModelChoice channel={of} value={model} onValue={setModel} />
      <div role="status" class="stack">
        {isRunning && <Waiting />}
        {problem && <Problem error={problem} />}
        {results.length > 0 && (
          <ol class="channels-results" aria-label={words.results}>
            {results.map(one => (
              <TestResult key={one.at} of={one} />
            ))}
          </ol>
        )}
      </div>
    </Dialog>
  )
}

interface ModelChoiceProps {
  readonly channel: Channel
  /** Public model id. Empty for the channel's first model. */
  readonly value: string
  readonly onValue: (model: string) => void
}

/** Maximum number of models offered in a select. More are offered as suggestions while typing. */
const MANY = 100

function ModelChoice({ channel, value, onValue }: ModelChoiceProps) {
  const words = text().test
  const models = useModelsOf(channel.name)
  const ids = models.data?.map(({ id }) => id) ?? Object.keys(channel.models)
  if (ids.length <= MANY && models.error === undefined)
    return (
      <Select
        label={words.model}
        value={value}
        onValue={onValue}
        options={[{ value: '', label: words.usual }, ...ids.map(id => ({ value: id, label: id }))]}
        data-autofocus
      />
    )
  return (
    <>
      <Field
        label={words.model}
        value={value}
        onValue={onValue}
        placeholder={words.usual}
        hint={models.error === undefined ? words.modelHint : words.noModels}
        list="channels-test-models"
        autocomplete="off"
        spellcheck={false}
        data-autofocus
      />
      <datalist id="channels-test-models">
        {ids.map(id => (
          <option key={id} value={id} />
        ))}
      </datalist>
    </>
  )
}
