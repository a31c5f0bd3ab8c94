import { patch, post } from '../../api/request.ts'
import type { Group, Key, NewKey } from '../../api/types.ts'
import { editsOf } from '../../edits.ts'
import { common } from '../../i18n/common.ts'
import { Dialog } from '../../ui/dialog.tsx'
import { Area, Check, Field, Select } from '../../ui/field.tsx'
import { FormActions } from '../../ui/form-actions.tsx'
import { Problem } from '../../ui/states.tsx'
import { keyBody, valuesOf } from './form-values.ts'
import { LimitFields, PermissionFields } from './permission-fields.tsx'
import { text } from './texts.ts'
import { useForm } from './use-form.ts'

interface KeyFormProps {
  /** The key to change. Absent for a new key. */
  readonly of?: Key
  readonly groups: readonly Group[]
  readonly doors: readonly string[]
  readonly onMade: (key: NewKey) => void
  readonly onChanged: (key: Key) => void
  readonly onClose: () => void
}

/** Form that creates or changes a key. */
export function KeyForm({ of, groups, doors, onMade, onChanged, onClose }: KeyFormProps) {
  const words = text().form
  const form = useForm(valuesOf(of), async values => {
    const body = keyBody(values, of)
    if (of === undefined) onMade(await post<NewKey>('/keys', body))
    else onChanged(await patch<Key>(`/keys/${encodeURIComponent(of.id)}`, editsOf(keyBody(valuesOf(of), of), body)))
  })
  const { values, set, errorAt } = form
  return (
    <Dialog
      title={of === undefined ? words.create : words.change(of.name)}
      place="side"
      onClose={onClose}
      onSubmit={form.submit}
      footer={
        <FormActions submit={of === undefined ? words.submit : common().save} busy={form.isBusy} onClose={onClose} />
      }
    >
      <Field
        label={words.name}
        hint={words.nameHint}
        value={values.name}
        onValue={value => set('name', value)}
        error={errorAt('name')}
        autocomplete="off"
        spellcheck={false}
        required
        data-autofocus
      />
      <Select
        label={text().group}
        value={values.group}
        onValue={value => set('group', value)}
        error={errorAt('group')}
        options={groups.map(({ name }) => ({ value: name, label: name }))}
      />
      <Area
        label={words.note}
        value={values.note}
        onValue={value => set('note', value)}
        error={errorAt('note')}
        rows={2}
      />
      <Field
        label={words.expires}
        hint={words.expiresHint}
        type="datetime-local"
        value={values.expires}
        onValue={value => set('expires', value)}
        error={errorAt('expires')}
      />
      {of !== undefined && (
        <Check
          label={words.enabled}
          hint={words.enabledHint}
          checked={values.enabled}
          onValue={on => set('enabled', on)}
        />
      )}
      <LimitFields form={form} />
      <PermissionFields form={form} doors={doors} />
      {form.problem && <Problem error={form.problem} />}
    </Dialog>
  )
}
