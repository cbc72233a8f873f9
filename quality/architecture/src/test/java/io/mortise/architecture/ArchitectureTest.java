package io.mortise.architecture;

import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import org.junit.jupiter.api.Test;

/** Checks {@link Rules} in all modules, and that no module is missing. */
class ArchitectureTest {
  private static final JavaClasses ALL =
      new ClassFileImporter()
          .withImportOption(new ImportOption.DoNotIncludeTests())
          .importPackages("io.mortise");

  @Test
  void givenAllModules_thenEachIsLookedAt() {
    for (String type :
        new String[] {
          "io.mortise.LockClient",
          "io.mortise.support.memory.MemStore",
          "io.mortise.jdbc.JdbcStore",
          "io.mortise.sql.SqlHelpers",
          "io.mortise.redis.RedisStore",
          "io.mortise.redis.lettuce.LettuceStore",
          "io.mortise.zookeeper.ZooKeeperStore",
          "io.mortise.curator.CuratorStore",
          "io.mortise.consul.ConsulStore",
          "io.mortise.dynamodb.DynamoDbStore",
          "io.mortise.etcd.EtcdStore",
          "io.mortise.nats.NatsStore",
          "io.mortise.memcached.MemcachedStore",
          "io.mortise.quorum.QuorumStore",
          "io.mortise.micrometer.LockMetrics",
          "io.mortise.testkit.contract.store.LockStoreContract",
          "io.mortise.shedlock.MortiseLockProvider",
          "io.mortise.spring.integration.MortiseLockRegistry",
          "io.mortise.liquibase.MortiseLockService",
          "io.mortise.camel.MortiseClusterService",
          "io.mortise.spring.Locked",
          "io.mortise.http.FencingFilter",
          "io.mortise.reactor.ReactiveLock",
          "io.mortise.kotlin.SuspendLock",
          "io.mortise.spring.boot.MortiseAutoConfiguration",
          "io.mortise.spring.boot.test.MemoryLocks",
          "io.mortise.console.Console",
          "io.mortise.cli.Main"
        }) {
      assertThat(ALL.contain(type)).as(type).isTrue();
    }
    assertThat(ALL.stream().map(type -> type.getPackageName()))
        .anyMatch(name -> name.startsWith("io.mortise.torture"))
        .anyMatch(name -> name.startsWith("io.mortise.bench"));
  }

  @Test
  void givenAllTypes_thenNoNameIsUsedTwice() {
    Rules.ONE_NAME_ONE_TYPE.check(ALL);
  }

  @Test
  void givenAllPackages_thenNoneDependsOnItselfThroughOthers() {
    Rules.NO_PACKAGE_CYCLES.check(ALL);
  }

  @Test
  void givenTheEngine_thenNoTypeKnowsOneAboveIt() {
    Rules.ENGINE_HAS_FLOORS.check(ALL);
  }

  @Test
  void givenTheApi_thenItKnowsNothingBehindIt() {
    Rules.API_STANDS_ALONE.check(ALL);
  }

  @Test
  void givenStores_thenNoneKnowsAnother() {
    Rules.STORES_ARE_STRANGERS.check(ALL);
  }

  @Test
  void givenToolsAndAdapters_thenTheySeeThePublicApiOnly() {
    Rules.TOOLS_SEE_THE_PUBLIC_API.check(ALL);
  }

  @Test
  void givenPackagesThatNoModuleExports_thenTheirMembersAreClosed() {
    HiddenMembers.CLOSED.check(ALL);
  }

  @Test
  void givenCoreAndStores_thenTheyReadTheClockThatTheyWereGiven() {
    Rules.CLOCKS_ARE_INJECTED.check(ALL);
  }

  @Test
  void givenCoreAndStores_thenNoneRunsAnythingInTheCommonPool() {
    Rules.COMMON_POOL_IS_THE_APPLICATIONS.check(ALL);
  }

  @Test
  void givenAllModules_thenTheirTextFollowsNoLocale() {
    Rules.TEXT_IS_OF_NO_LOCALE.check(ALL);
  }

  @Test
  void givenCoreAndStores_thenTheirThreadsInheritNothing() {
    Rules.THREADS_INHERIT_NOTHING.check(ALL);
  }

  @Test
  void givenStores_thenAllButTheQuorumKeepFacts() {
    Rules.STORES_KEEP_FACTS.check(ALL);
  }
}
