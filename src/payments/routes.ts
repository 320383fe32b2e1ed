import type Router from '@koa/router';
import type { Middleware } from 'koa';
import {
  type PaymentsOperations,
  type PaymentsPublicOperation,
  paymentsContract,
  paymentsServiceContract,
} from '../contract/contracts/payments.ts';
import { paymentsError } from '../contract/contracts/payments-errors.ts';
import { descriptionHandlers, withErrorCodes } from '../contract/description/description.ts';
import { withExamples } from '../contract/description/examples.ts';
import { mergedDocument } from '../contract/description/merged-document.ts';
import { publicDocument } from '../contract/description/public-document.ts';
import { mount, mountGated } from '../contract/mount/mount.ts';
import type { CrossOriginRules } from '../http/app/cors.ts';
import { HttpError } from '../http/errors.ts';
import { healthRoutes, type ReadinessCheck } from '../http/health.ts';
import type { Logger } from '../lib/logger.ts';
import { LIMIT_FIELDS, type RequestCounters } from '../lib/request-counters.ts';
import type { ChainClient } from '../node/client.ts';
import { proofReader } from '../node/transaction-proof.ts';
import { signatureJudge } from '../node/wallet-signature.ts';
import { assetRoutes } from '../pages/assets.ts';
import { referencePages } from '../pages/reference/reference-page.ts';
import { apiKeyHandlers } from './api/api-keys.ts';
import { chainHandlers } from './api/chains.ts';
import { customerHandlers } from './api/customers/customers.ts';
import { depositAddressHandlers } from './api/deposits/deposit-addresses.ts';
import { eventHandlers } from './api/events.ts';
import type { AnonymousCaller, ApiCaller, PaymentsContext } from './api/gate/api-context.ts';
import { paymentsGate } from './api/gate/gate.ts';
import { type KeyLimits, pageAdmission, rateLimits } from './api/gate/rate-limits.ts';
import { linkHandlers } from './api/links/links.ts';
import { notificationHandlers } from './api/notifications.ts';
import { imageHandlers } from './api/organization/images.ts';
import { organizationHandlers } from './api/organization/organization.ts';
import { recipientHandlers } from './api/organization/recipients.ts';
import { refundHandlers } from './api/refunds.ts';
import { sessionHandlers, simulationHandlers } from './api/sessions.ts';
import { setAsideHandlers } from './api/set-aside.ts';
import { statsHandlers } from './api/stats.ts';
import { transactionHandlers } from './api/transactions.ts';
import { transferHandlers } from './api/transfers.ts';
import { webhookHandlers } from './api/webhooks.ts';
import { auditTrail } from './audit/audit-trail.ts';
import { auditHandlers } from './audit/operations.ts';
import type { IsChainLate } from './checkout/bodies.ts';
import { checkoutHandlers } from './checkout/operations.ts';
import { checkoutPages } from './checkout/page/routes.ts';
import type { StateWaits } from './checkout/state-waits.ts';
import { dashboardOverview } from './dashboard/overview.ts';
import { dashboardPages } from './dashboard/pages.ts';
import { dashboardRoutes } from './dashboard/sign-in/routes.ts';
import type { DepositOffers } from './deposits/deposit-offers.ts';
import { sweepPlanner } from './deposits/sweep-plan.ts';
import { homePage } from './home-page.ts';
import { imageRoute } from './images/image-route.ts';
import type { OutgoingChannels } from './outgoing.ts';
import { pageAssets } from './page-assets.ts';

export interface RoutesOptions extends PaymentsContext {
  readonly limits: KeyLimits;
  /** See `rateLimits`. */
  readonly counters: RequestCounters | undefined;
  readonly validateResponses: boolean;
  /** The nodes of a chain; undefined for one that is not configured. */
  readonly clientOf: (chainId: number) => ChainClient | undefined;
  readonly outgoing: OutgoingChannels;
  /** Chains that offer deposit addresses now. */
  readonly deposits: DepositOffers;
  readonly waits: StateWaits;
  readonly isChainLate: IsChainLate;
  /** Readiness checks. */
  readonly checks: Readonly<Record<string, ReadinessCheck>>;
  /** See `healthRoutes`. */
  readonly isLeaving?: (() => boolean) | undefined;
  readonly log: Logger;
}

const TITLE = 'tollgate payments';

/** A merchant's own front end may do what the pay page does. All other POSTs need a key and are not for browsers. */
export const PAYMENTS_CROSS_ORIGIN: CrossOriginRules = {
  exposedHeaders: [
    'ETag',
    'Date',
    'X-RateLimit-Limit',
    'X-RateLimit-Remaining',
    'X-RateLimit-Reset',
    ...LIMIT_FIELDS,
    'Idempotent-Replayed',
    'WWW-Authenticate',
  ],
  isPostAllowed: path => path.startsWith('/api/v1/pay/'),
  isClosed: path => path === '/dashboard' || path.startsWith('/dashboard/'),
};

/** Description of document 3's operations and the service's own, merged into one document. */
const describe = () =>
  mergedDocument(TITLE, [
    { ...paymentsContract, document: withErrorCodes(withExamples(paymentsContract).document) },
    withExamples(paymentsServiceContract),
  ]);

/** All routes of the payments service, in order. Pages, assets, health and documentation go into `plain`. */
export async function paymentsRoutes(options: RoutesOptions, plain: Router): Promise<readonly Middleware[]> {
  const { limits, validateResponses, log, db, clock, publicUrl, outgoing } = options;
  const counts = rateLimits(db, limits, { counters: options.counters });
  const trail = auditTrail(clock);
  const verifySignature = signatureJudge(options.clientOf);
  healthRoutes(plain, { checks: () => options.checks, isLeaving: options.isLeaving });
  const description = descriptionHandlers(describe, () => publicUrl);
  referencePages(plain, { title: TITLE, describe: () => publicDocument(describe(), publicUrl) });
  const assets = pageAssets();
  assetRoutes(plain, assets);
  homePage(plain, { assets, title: TITLE });
  dashboardPages(plain, assets);
  const admit = pageAdmission(counts, clock);
  imageRoute(plain, { db, clock, admit });
  checkoutPages(plain, { ...options, assets, admit });
  const handlers = {
    ...linkHandlers(options),
    ...sessionHandlers(options),
    ...statsHandlers(options),
    ...transactionHandlers(options, { readProof: proofReader(options.clientOf) }),
    ...eventHandlers(options),
    ...transferHandlers(options),
    ...refundHandlers(options),
    ...depositAddressHandlers(options, { planSweep: sweepPlanner(options.clientOf) }),
    ...setAsideHandlers(options),
    ...auditHandlers(options),
    ...customerHandlers(options),
    ...simulationHandlers(options),
    ...apiKeyHandlers(options),
    ...organizationHandlers(options),
    ...imageHandlers(options),
    ...chainHandlers(options),
    ...recipientHandlers(options, { verifySignature }),
    ...webhookHandlers(options, { ...outgoing, ...outgoing.webhooks, log }),
    ...notificationHandlers(options, outgoing),
    ...checkoutHandlers({ ...options, verifySignature }),
  };
  return [
    withoutMethodErrors,
    // Descriptions are operations of contracts of their own (Decision 202), before the gate: they need no key.
    await mount({
      contract: paymentsServiceContract,
      handlers: {
        getPaymentsDescription: description.json,
        getPaymentsDescriptionYaml: description.yaml,
      },
      validateResponses,
    }),
    ...(await dashboardRoutes({
      ...options,
      counts,
      hasMailServer: outgoing.hasMailServer,
      trail,
      readOverview: dashboardOverview(handlers),
    })),
    await mountGated<PaymentsOperations, PaymentsPublicOperation, ApiCaller, AnonymousCaller>({
      contract: paymentsContract,
      handlers,
      gate: paymentsGate({ ...options, counts, trail, log }),
      validateResponses,
    }),
  ];
}

/** Converts a 405 to a 404 with the document's error body (Decision 103), as for the contract's own paths. */
const withoutMethodErrors: Middleware = async (_, next) => {
  try {
    await next();
  } catch (error) {
    if (!(error instanceof HttpError) || error.status !== 405) throw error;
    throw paymentsError('resource_not_found', error.message, { headers: error.headers, cause: error });
  }
};
