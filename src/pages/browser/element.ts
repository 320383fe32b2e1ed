import { type Attributes, type ComponentChildren, createElement, type JSX } from 'preact';

/**
 * Element of a component, with its properties checked by the compiler; children are a property. Templates of `html`
 * are for plain elements, because the compiler does not look into them.
 */
export function h<Props extends object>(
  component: (props: Props) => ComponentChildren,
  props: NoInfer<Props> & Attributes,
): JSX.Element {
  return createElement(component, props);
}
