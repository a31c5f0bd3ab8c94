import { patch, post } from '../../api/request.ts'
import type { Group } from '../../api/types.ts'
import { editsOf } from '../../edits.ts'
import { common } from '../../i18n/common.ts'
import { Dialog } from '../../ui/dialog.tsx'
import { Area, Field } from '../../ui/field.tsx'
import { FormActions } from '../../ui/form-actions.tsx'
import { Problem } from '../../ui/states.tsx'
import { groupBody, valuesOf } from './form-values.ts'
import { LimitFields, PermissionFields } from './permission-fields.tsx'
import { text } from './texts.ts'
import { useForm } from './use-form.ts'

interface GroupFormProps {
  /** The group to change. Absent for a new group. */
  readonly of?: Group
  readonly doors: readonly string[]
  /** Called after saving, with the message to show. */
  readonly onKept: (said: string) => void
  readonly onClose: () => void
}

/** Form that creates or changes a group. */
export function GroupForm({ of, doors, onKept, onClose }: GroupFormProps) {
  const words = text().groups
  const initial = valuesOf({ on_loss: 'show', ...of })
  const form = useForm(initial, async values => {
    const name = values.name.trim()
    if (of === undefined) await post('/groups', { name, ...groupBody(values) })
    else await patch(`/groups/${encodeURIComponent(of.name)}`, editsOf(groupBody(initial), groupBody(values)))
    onKept(of === undefined ? text().done.groupMade(name) : text().done.changed(name))
  })
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
      {of === undefined && (
        <Field
          label={text().form.name}
          value={form.values.name}
          onValue={value => form.set('name', value)}
          error={form.errorAt('name')}
          autocomplete="off"
          spellcheck={false}
          required
          data-autofocus
        />
      )}
      <LimitFields form={form} ofGroup />
      <PermissionFields form={form} ofGroup doors={doors} />
      <Area
        label={words.fallbacks}
        hint={words.fallbacksHint}
        value={form.values.fallbacks}
        onValue={value => form.set('fallbacks', value)}
        error={form.errorAt('fallbacks')}
        rows={2}
        mono
        spellcheck={false}
      />
      {form.problem && <Problem error={form.problem} />}
    </Dialog>
  )
}
