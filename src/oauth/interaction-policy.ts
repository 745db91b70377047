/** When the library sends a browser to our pages. */
import type { KoaContextWithOIDC } from 'oidc-provider';
import { acrValuesIn } from './authentication-context.ts';
import { interactionPolicy } from './library.ts';

/**
 * Every login asks the phone, unless the last one of this browser is recent enough to count (`singleSignOnSeconds`) and was of
 * a kind that this client accepts.
 */
export const policyWith = (singleSignOnSeconds: number) => {
  const { base, Check, Prompt } = interactionPolicy;
  const policy = base();
  policy.remove('consent');
  policy.add(new Prompt({ name: 'consent', requestable: true }));
  const isNew = (ctx: KoaContextWithOIDC): boolean => Boolean(ctx.oidc.result?.login);
  policy.get('login')?.checks.add(
    new Check('phone', 'End-User authentication is required', 'login_required', (ctx) => {
      const { session } = ctx.oidc;
      return !isNew(ctx) && (singleSignOnSeconds === 0 || session?.past(singleSignOnSeconds) !== false);
    }),
  );
  policy.get('login')?.checks.add(
    new Check('acr', 'none of the requested ACRs could be obtained', 'login_required', (ctx) => {
      const wanted: readonly string[] = acrValuesIn(ctx.oidc.params?.acr_values);
      const acr = ctx.oidc.session?.acr ?? '';
      // Who asks for nothing gets what a phone signs, never a password by text message.
      return !isNew(ctx) && (wanted.length === 0 ? acr === 'mid_al2_any' : !wanted.includes(acr));
    }),
  );
  return policy;
};
