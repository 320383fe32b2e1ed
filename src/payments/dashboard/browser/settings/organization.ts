import { html } from 'htm/preact';
import type { VNode } from 'preact';
import { useContext, useState } from 'preact/hooks';
import { Awaited, useAnswer } from '#pages/browser/answer.ts';
import { StatusMessage } from '#pages/browser/changes.ts';
import { h } from '#pages/browser/element.ts';
import { CheckField, Refusals, SelectField, TextField } from '#pages/browser/fields.ts';
import { Card, Facts } from '#pages/browser/layout.ts';
import { Moment } from '#pages/browser/moment.ts';
import { Reference } from '#pages/browser/reference.ts';
import { api, type Payments } from '../api.ts';
import { ChainName, tokenAt, useChains } from '../chains.ts';
import { openPage } from '../frame.ts';
import { PictureField } from '../picture-field.ts';
import { useHasPermission, useIsOwner } from '../signed-in.ts';
import { ToleranceField, toleranceFact } from '../tolerance.ts';
import { Recipients } from './recipients.ts';
import { SettingsCard, type SettingsProps } from './settings-card.ts';

type Organization = Payments['Organization'];

/** Page of the organization's profile, defaults for new links and security, for the mode of the key. */
function OrganizationPage(): VNode {
  const mayChange = useHasPermission('admin');
  const [said, setSaid] = useState('');
  const organization = useAnswer(signal => api.GET('/api/v1/organization', { signal }));
  const onDone = (text: string) => {
    setSaid(text);
    organization.reload();
  };
  return html`
    <h1>Organization</h1>
    ${h(StatusMessage, { children: said })}
    ${h(Awaited<Organization>, {
      loading: organization,
      children: body => html`
        ${
          mayChange
            ? html`<div class="grid">
              ${h(Profile, { organization: body, onDone })}
              ${h(ContactOfPayers, { organization: body, onDone })}
              ${h(Defaults, { organization: body, onDone })}
              ${h(Tolerance, { organization: body, onDone })}
              ${h(Security, { organization: body, onDone })}
            </div>`
            : h(Shown, { organization: body })
        }
        ${h(Recipients, { isLocked: body.recipients_locked, onDone })}
        <p class="small">
          Settings of ${body.mode} mode. Updated ${h(Moment, { at: body.updated_at })}. ID <code>${body.id}</code>
        </p>
      `,
    })}
  `;
}

function Shown({ organization }: { organization: Organization }): VNode {
  const {
    default_chain_id: chainId,
    default_token_address: token,
    default_recipient_address: to,
  } = organization;
  const symbol = tokenAt(useChains() ?? [], { chain_id: chainId ?? 0, token_address: token ?? '' })?.symbol;
  return h(Card, {
    title: 'Settings',
    children: h(Facts, {
      rows: [
        ['Name', organization.name],
        ['Logo', organization.logo_url],
        ['Contact for payers', organization.contact_email],
        ['Website', organization.site_url],
        ['Terms of sale', organization.terms_url],
        ['Chain of new links', chainId !== null && h(ChainName, { id: chainId })],
        ['Token of new links', symbol ?? token],
        ['Recipient of new links', to !== null && h(Reference, { value: to })],
        toleranceFact(organization.payment_tolerance),
        ['Origins', organization.origins.join(', ') || 'none'],
      ],
    }),
  });
}

function Profile(props: SettingsProps): VNode {
  const { organization } = props;
  const [name, setName] = useState(organization.name);
  const [logo, setLogo] = useState(organization.logo_url ?? '');
  return h(SettingsCard, {
    ...props,
    title: 'Profile',
    action: 'Save profile',
    saved: 'The profile is saved. Payers see it at once.',
    typed: { name: name.trim() || null, logo_url: logo.trim() || null },
    children: html`
      ${h(TextField, {
        label: 'Name',
        param: 'name',
        value: name,
        hint: 'Shown to payers. Leave empty for the default of this server.',
        onValue: setName,
      })}
      ${h(PictureField, { label: 'Logo', param: 'logo_url', value: logo, onValue: setLogo })}
    `,
  });
}

function ContactOfPayers(props: SettingsProps): VNode {
  const { organization } = props;
  const [email, setEmail] = useState(organization.contact_email ?? '');
  const [site, setSite] = useState(organization.site_url ?? '');
  const [terms, setTerms] = useState(organization.terms_url ?? '');
  return h(SettingsCard, {
    ...props,
    title: 'Contact for payers',
    action: 'Save contact',
    saved: 'The contact is saved. Payers see it at once.',
    typed: {
      contact_email: email.trim() || null,
      site_url: site.trim() || null,
      terms_url: terms.trim() || null,
    },
    children: html`
      ${h(TextField, {
        label: 'E-mail address',
        param: 'contact_email',
        type: 'email',
        value: email,
        hint: 'Checkout pages name it where a payer may have to ask you, and answers to mails reach it.',
        onValue: setEmail,
      })}
      ${h(TextField, { label: 'Website (https)', param: 'site_url', type: 'url', value: site, onValue: setSite })}
      ${h(TextField, { label: 'Terms of sale (https)', param: 'terms_url', type: 'url', value: terms, onValue: setTerms })}
    `,
  });
}

function Defaults(props: SettingsProps): VNode {
  const { organization } = props;
  const chains = useChains() ?? [];
  const [chainId, setChainId] = useState(String(organization.default_chain_id ?? ''));
  const [token, setToken] = useState(organization.default_token_address ?? '');
  const [recipient, setRecipient] = useState(organization.default_recipient_address ?? '');
  const isOwner = useIsOwner();
  const chain = chains.find(({ id }) => String(id) === chainId);
  const choose = (id: string) => {
    setChainId(id);
    setToken(chains.find(one => String(one.id) === id)?.tokens[0]?.address ?? '');
  };
  return h(SettingsCard, {
    ...props,
    title: 'Defaults of new links',
    action: 'Save defaults',
    saved: 'The defaults are saved. Existing links stay as they are.',
    typed: {
      default_chain_id: chainId === '' ? null : Number(chainId),
      default_token_address: token || null,
      default_recipient_address: recipient.trim() || null,
    },
    children: html`
      ${h(SelectField<string>, {
        label: 'Chain',
        param: 'default_chain_id',
        value: chainId,
        options: [
          ['', 'Default of this server'],
          ...chains.map(({ id, name }) => [String(id), name] as const),
        ],
        onValue: choose,
      })}
      ${h(SelectField<string>, {
        label: 'Token',
        param: 'default_token_address',
        value: token,
        options: [
          ['', 'Default of this server'],
          ...(chain?.tokens ?? []).map(({ address, symbol }) => [address, symbol] as const),
        ],
        onValue: setToken,
      })}
      ${
        isOwner &&
        h(TextField, {
          label: 'Recipient',
          param: 'default_recipient_address',
          value: recipient,
          placeholder: '0x…',
          onValue: setRecipient,
        })
      }
    `,
  });
}

function Tolerance(props: SettingsProps): VNode {
  const [percent, setPercent] = useState(String(props.organization.payment_tolerance));
  return h(SettingsCard, {
    ...props,
    title: 'Payments that are a little short',
    action: 'Save',
    saved: 'The setting is saved. Open checkouts keep theirs.',
    typed: { payment_tolerance: Number(percent) },
    children: h(ToleranceField, {
      value: percent,
      isRequired: true,
      hint: 'Wallets and exchanges may take a fee from what they send. This counts for wallets that signed and for payments that you assign. 0 asks for the full price, 10 is the most. Payers do not see it, and a link can have its own.',
      onValue: setPercent,
    }),
  });
}

function Security(props: SettingsProps): VNode {
  const { organization } = props;
  const [text, setText] = useState(organization.origins.join('\n'));
  const [isLocked, setLocked] = useState(organization.recipients_locked);
  const isOwner = useIsOwner();
  return h(SettingsCard, {
    ...props,
    title: 'Security',
    action: 'Save',
    saved: 'The settings are saved.',
    typed: { origins: text.split(/\s+/).filter(line => line !== ''), recipients_locked: isLocked },
    children: html`
      ${h(OriginsField, { value: text, onValue: setText })}
      ${
        isOwner &&
        html`
          ${h(CheckField, {
            label: 'Only allow recipients from the list below',
            isChecked: isLocked,
            onChecked: setLocked,
          })}
          <p class="hint">
            A stolen key can then not redirect payments. Check the list first: it contains every address that any key has
            used before.
          </p>
        `
      }
    `,
  });
}

/** Field for all origins. It shows the refusal of each one. */
function OriginsField({ value, onValue }: { value: string; onValue: (text: string) => void }): VNode {
  const refused = useContext(Refusals).find(({ param }) => param?.startsWith('origins'));
  return h(TextField, {
    label: 'Origins of your websites, one per line',
    param: refused?.param ?? 'origins',
    type: 'textarea',
    value,
    placeholder: 'https://shop.example',
    hint: 'The message that a payer signs there names your website.',
    onValue,
  });
}

openPage('Organization', OrganizationPage);
