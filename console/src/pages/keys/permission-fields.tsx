import { useId } from 'preact/hooks'
import { Area, Check, Field, Select } from '../../ui/field.tsx'
import type { NumberField } from './form-values.ts'
import { text } from './texts.ts'
import type { Form } from './use-form.ts'

interface FieldsProps {
  readonly form: Form
  /** Whether the fields are those of a group. Their hints then mention no group whose value applies instead. */
  readonly ofGroup?: boolean
}

/** Form fields for the limits of a key or group. */
export function LimitFields({ form, ofGroup }: FieldsProps) {
  const words = text().form
  const field = (name: NumberField, label: string, prefix?: string) => (
    <Field
      label={label}
      value={form.values[name]}
      onValue={value => form.set(name, value)}
      error={form.errorAt(name)}
      inputMode={prefix === undefined ? 'numeric' : 'decimal'}
      autocomplete="off"
      {...(prefix === undefined ? {} : { prefix })}
    />
  )
  return (
    <fieldset>
      <legend>{words.limits}</legend>
      <p class="note">{ofGroup ? words.groupLimitsHint : words.limitsHint}</p>
      <div class="numbers">
        {field('rpm', words.rpm)}
        {field('tpm', words.tpm)}
        {field('concurrent', words.concurrent)}
        {field('day', words.day, '$')}
        {field('month', words.month, '$')}
      </div>
    </fieldset>
  )
}

interface PermissionProps extends FieldsProps {
  /** Formats that can be allowed. */
  readonly doors: readonly string[]
}

/** Form fields for the permissions of a key or group: models, formats, channels and losses. */
export function PermissionFields({ form, ofGroup, doors }: PermissionProps) {
  const words = text().form
  const { values, set, errorAt } = form
  const losses = ofGroup ? (['show', 'refuse'] as const) : (['group', 'show', 'refuse'] as const)
  return (
    <fieldset>
      <legend>{words.permissions}</legend>
      <Area
        label={words.models}
        hint={ofGroup ? words.groupModelsHint : words.modelsHint}
        value={values.models}
        onValue={value => set('models', value)}
        error={errorAt('models')}
        rows={2}
        mono
        spellcheck={false}
      />
      {ofGroup && (
        <Area
          label={words.channels}
          hint={words.channelsHint}
          value={values.channels}
          onValue={value => set('channels', value)}
          error={errorAt('channels')}
          rows={2}
          mono
          spellcheck={false}
        />
      )}
      <Doors doors={doors} chosen={values.doors} onChosen={chosen => set('doors', chosen)} />
      <Select
        label={words.onLoss}
        value={values.onLoss}
        onValue={value => set('onLoss', value)}
        options={losses.map(value => ({ value, label: words.onLossOptions[value] }))}
      />
    </fieldset>
  )
}

interface DoorsProps {
  readonly doors: readonly string[]
  readonly chosen: readonly string[]
  readonly onChosen: (chosen: readonly string[]) => void
}

function Doors({ doors, chosen, onChosen }: DoorsProps) {
  const id = useId()
  const words = text().form
  return (
    <div class="field" role="group" aria-labelledby={id} aria-describedby={`${id}-note`}>
      <span id={id} class="label">
        {words.doors}
      </span>
      <div class="doors">
        {doors.map(door => (
          <Check
            key={door}
            label={door}
            checked={chosen.includes(door)}
            onValue={on => onChosen(on ? [...chosen, door] : chosen.filter(one => one !== door))}
          />
        ))}
      </div>
      <div id={`${id}-note`} class="note">
        {words.doorsHint}
      </div>
    </div>
  )
}
