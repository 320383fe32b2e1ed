import type { ComponentChildren, VNode } from 'preact';
import { useState } from 'preact/hooks';
import { answerOf } from '#pages/browser/answer.ts';
import { ChangeForm, useChange } from '#pages/browser/changes.ts';
import { h } from '#pages/browser/element.ts';
import { formEditor, NOTHING_CHANGED, versionOf } from '#pages/browser/form-editor.ts';
import { Card } from '#pages/browser/layout.ts';
import { api, idempotencyKey, type Payments } from '../api.ts';

type Organization = Payments['Organization'];

/** Settings of an organization that a form changes. */
export interface SettingsProps {
  readonly organization: Organization;
  /** Called with a message after a change. */
  readonly onDone: (said: string) => void;
}

interface SettingsCardProps extends SettingsProps {
  readonly title: string;
  /** Label of the button. */
  readonly action: string;
  /** Message after the settings are saved. */
  readonly saved: string;
  readonly typed: Partial<Settings>;
  readonly children: ComponentChildren;
}

/** Form of some settings, which saves those that were changed. */
export function SettingsCard(props: SettingsCardProps): VNode {
  const { organization, onDone, title, action, saved, typed, children } = props;
  const change = useChange();
  const save = useSaving(organization);
  const onSubmit = () => change.run(async () => onDone((await save(typed)) ? saved : NOTHING_CHANGED));
  return h(Card, { title, children: h(ChangeForm, { label: title, action, change, onSubmit, children }) });
}

type Settings = Required<Payments['OrganizationChanges']>;

function settingsOf(organization: Organization): Settings {
  const { name, logo_url, default_chain_id, default_token_address, default_recipient_address } = organization;
  const { payment_tolerance, recipients_locked, origins, contact_email, site_url, terms_url } = organization;
  return {
    name,
    logo_url,
    contact_email,
    site_url,
    terms_url,
    default_chain_id,
    default_token_address,
    default_recipient_address,
    payment_tolerance,
    recipients_locked,
    origins,
  };
}

/** Function that saves the fields of one form. It resolves to false when none was changed. */
function useSaving(organization: Organization): (typed: Partial<Settings>) => Promise<boolean> {
  const [opened] = useState(() => settingsOf(organization));
  const [editor] = useState(() =>
    formEditor({
      opened,
      read: async () => versionOf(await answerOf(api.GET('/api/v1/organization')), settingsOf),
      write: (body, etag) => {
        const params = { header: { 'Idempotency-Key': idempotencyKey(), 'If-Match': etag } };
        return answerOf(api.PATCH('/api/v1/organization', { params, body }));
      },
    }),
  );
  return typed => editor.save({ ...opened, ...typed });
}
