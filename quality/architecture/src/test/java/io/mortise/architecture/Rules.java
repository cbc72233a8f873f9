package io.mortise.architecture;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.Dependency;
import com.tngtech.archunit.core.domain.JavaAccess;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaCodeUnitAccess;
import com.tngtech.archunit.core.domain.JavaMember;
import com.tngtech.archunit.lang.ArchCondition;
import com.tngtech.archunit.lang.ArchRule;
import com.tngtech.archunit.lang.CompositeArchRule;
import com.tngtech.archunit.lang.ConditionEvents;
import com.tngtech.archunit.lang.SimpleConditionEvent;
import com.tngtech.archunit.library.dependencies.SliceAssignment;
import com.tngtech.archunit.library.dependencies.SliceIdentifier;
import io.mortise.spi.LockStore;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.ForkJoinPool;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Rules on the structure of the code, each with its remedy. */
final class Rules {
  /** The packages of the public API, which no other package of core may leak into. */
  private static final String[] API = {
    "io.mortise",
    "io.mortise.admin",
    "io.mortise.annotation",
    "io.mortise.event",
    "io.mortise.function",
    "io.mortise.guarantee",
    "io.mortise.recipe"
  };

  /** The other layout in ZooKeeper, over the connections of the first, in its internal package. */
  private static final String CURATOR = "io.mortise.curator";

  private static final String ZOOKEEPER = "io.mortise.zookeeper";

  private static final List<String> STORES =
      List.of(
          "io.mortise.jdbc",
          "io.mortise.sql",
          "io.mortise.redis",
          ZOOKEEPER,
          CURATOR,
          "io.mortise.consul",
          "io.mortise.dynamodb",
          "io.mortise.etcd",
          "io.mortise.nats",
          "io.mortise.memcached",
          "io.mortise.quorum");

  static final String[] TOOLS = {
    "io.mortise.cli..",
    "io.mortise.console..",
    "io.mortise.torture..",
    "io.mortise.bench..",
    "io.mortise.spring.."
  };

  /** Bring any store to other libraries. */
  private static final String[] ADAPTERS = {
    "io.mortise.shedlock..",
    "io.mortise.spring.integration..",
    "io.mortise.liquibase..",
    "io.mortise.camel..",
    "io.mortise.micrometer..",
    "io.mortise.http..",
    "io.mortise.reactor..",
    "io.mortise.kotlin.."
  };

  /** Packages that tools and adapters may use: unqualified exports, and the packages of tools. */
  static final Set<String> PUBLIC =
      Set.of(
          "io.mortise",
          "io.mortise.admin",
          "io.mortise.annotation",
          "io.mortise.event",
          "io.mortise.function",
          "io.mortise.guarantee",
          "io.mortise.recipe",
          "io.mortise.spi",
          "io.mortise.spi.time",
          "io.mortise.support.document",
          "io.mortise.jdbc",
          "io.mortise.sql",
          "io.mortise.redis",
          "io.mortise.redis.lettuce",
          ZOOKEEPER,
          CURATOR,
          "io.mortise.consul",
          "io.mortise.dynamodb",
          "io.mortise.etcd",
          "io.mortise.nats",
          "io.mortise.memcached",
          "io.mortise.quorum",
          "io.mortise.micrometer",
          "io.mortise.shedlock",
          "io.mortise.spring.integration",
          "io.mortise.liquibase",
          "io.mortise.http",
          "io.mortise.http.grpc",
          "io.mortise.reactor",
          "io.mortise.kotlin",
          "io.mortise.camel",
          "io.mortise.testkit",
          "io.mortise.testkit.contract",
          "io.mortise.testkit.contract.client",
          "io.mortise.testkit.contract.differential",
          "io.mortise.testkit.contract.document",
          "io.mortise.testkit.contract.store",
          "io.mortise.testkit.history",
          "io.mortise.testkit.server",
          "io.mortise.testserver");

  /** Names chosen by people, of neither descriptors nor anonymous classes. */
  private static final Pattern TYPE_NAME = Pattern.compile("[A-Z]\\w*");

  /** Nested types that many may have: a product's builder, and additions of Kotlin. */
  private static final Set<String> EVERYWHERE =
      Set.of("Builder", "Companion", "DefaultImpls", "WhenMappings");

  /** Methods that take a format, whose text LocalesInFormatsTest checks. */
  private static final Set<String> FORMATS = Set.of("format", "printf");

  private static final List<String> CLOCKS =
      List.of(
          "java.lang.System.nanoTime",
          "java.lang.System.currentTimeMillis",
          "java.time.Instant.now",
          "java.time.InstantSource.system",
          "java.time.Clock.system");

  /** The system clocks that stores and clients receive as arguments. */
  private static final Set<String> SYSTEM_CLOCKS =
      Set.of("io.mortise.spi.time.Ticker.SYSTEM", "io.mortise.spi.time.WallClock.SYSTEM");

  /** Types that open stores, helpers and clients. No other type chooses a clock. */
  private static final Set<String> OPENERS =
      Set.of(
          "ConsulStore",
          "ConsulStoreProvider",
          "CuratorStore",
          "DynamoDbStore",
          "DynamoDbStoreProvider",
          "EtcdStore",
          "EtcdStoreProvider",
          "JdbcStore",
          "LettuceStore",
          "LettuceTransportProvider",
          "MemStoreProvider",
          "MemcachedStore",
          "MemcachedStoreProvider",
          "MortiseLockService",
          "NatsStore",
          "NatsStoreProvider",
          "OuterLockStoreProvider",
          "QuorumStore",
          "QuorumStoreProvider",
          "RedisStore",
          // A driver creates it, and has no clock to pass.
          "ReplyTimeoutSocketFactory",
          "RedisStoreProvider",
          "SessionLocks",
          "ShedLockOuterLocks",
          "SqlHelpers",
          "SystemEnv",
          "ZooKeeperStore",
          "ZooKeeperStoreProvider");

  static final ArchRule ONE_NAME_ONE_TYPE =
      classes()
          .should(haveNamesOfTheirOwn())
          .because(
              "two types of one name are mistaken for each other; name the newer one after what it"
                  + " does, or after its store");

  static final ArchRule NO_PACKAGE_CYCLES =
      slices()
          .assignedFrom(new Packages())
          .should()
          .beFreeOfCycles()
          .because(
              "packages of a cycle can only be understood, tested and moved together; move the type"
                  + " that both need to the lower one, or turn one of the calls into an interface");

  static final ArchRule ENGINE_HAS_FLOORS =
      slices()
          .assignedFrom(new EngineTypes())
          .should()
          .beFreeOfCycles()
          .because(
              "each type of the engine knows those below it and none above; return a decision,"
                  + " leave an effect, or give the lower type an interface of its own");

  static final ArchRule API_STANDS_ALONE =
      noClasses()
          .that()
          .resideInAnyPackage(API)
          .should()
          .dependOnClassesThat()
          .resideInAnyPackage("io.mortise.spi..", "io.mortise.internal..")
          .because(
              "users of the API must not meet what authors of stores see; give the API a type of"
                  + " its own and translate in io.mortise.internal.client");

  static final ArchRule STORES_ARE_STRANGERS =
      CompositeArchRule.of(STORES.stream().map(Rules::seesNoOtherStore).toList())
          .because("users take one store alone; move what two stores need to store-support");

  static final ArchRule TOOLS_SEE_THE_PUBLIC_API =
      classes()
          .that()
          .resideInAnyPackage(Stream.of(TOOLS, ADAPTERS).flatMap(Stream::of).toArray(String[]::new))
          .should(dependOnPublicPackagesOnly())
          .because(
              "tools and adapters are the first users of the API; add what they lack to the API"
                  + " instead of reaching behind it");

  static final ArchRule CLOCKS_ARE_INJECTED =
      noClasses()
          .that()
          .resideOutsideOfPackages(TOOLS)
          .and()
          .resideOutsideOfPackages(
              "io.mortise.testkit..", "io.mortise.testserver..", "io.mortise.verification..")
          .and()
          .doNotHaveFullyQualifiedName("io.mortise.spi.time.Ticker")
          .and()
          .doNotHaveFullyQualifiedName("io.mortise.spi.time.WallClock")
          .should()
          .accessTargetWhere(
              new DescribedPredicate<JavaAccess<?>>("a clock of the system is read") {
                @Override
                public boolean test(JavaAccess<?> access) {
                  String target =
                      access.getTarget().getOwner().getFullName() + "." + access.getName();
                  return CLOCKS.stream().anyMatch(target::startsWith)
                      || (SYSTEM_CLOCKS.contains(target)
                          && !OPENERS.contains(outermost(access.getOriginOwner())));
                }
              })
          .because(
              "tests move time by hand; read the io.mortise.spi.time.Ticker that the store was"
                  + " given, and for the time of day its java.time.InstantSource");

  static final ArchRule COMMON_POOL_IS_THE_APPLICATIONS =
      noClasses()
          .that()
          .resideOutsideOfPackages(TOOLS)
          .and()
          .resideOutsideOfPackages(
              "io.mortise.testkit..", "io.mortise.testserver..", "io.mortise.verification..")
          .should()
          .accessTargetWhere(
              new DescribedPredicate<JavaAccess<?>>("the common pool is used") {
                @Override
                public boolean test(JavaAccess<?> access) {
                  return access instanceof JavaCodeUnitAccess<?> call && usesCommonPool(call);
                }
              })
          .because(
              "an application that blocks all its threads would hold up leases; give the call an"
                  + " executor, such as one of CompletionStages.detaching");

  /** Text for machines; LocalesInFormatsTest reads the formats. */
  static final ArchRule TEXT_IS_OF_NO_LOCALE =
      noClasses()
          .should()
          .accessTargetWhere(
              new DescribedPredicate<JavaAccess<?>>("a method follows the default locale") {
                @Override
                public boolean test(JavaAccess<?> access) {
                  return access instanceof JavaCodeUnitAccess<?> call && followsTheLocale(call);
                }
              })
          .because(
              "another machine would write another text, or not find this one; give the call"
                  + " Locale.ROOT");

  static final ArchRule THREADS_INHERIT_NOTHING =
      noClasses()
          .that()
          .resideOutsideOfPackages(TOOLS)
          .and()
          .resideOutsideOfPackages(ADAPTERS)
          .and()
          .resideOutsideOfPackages(
              "io.mortise.testkit..", "io.mortise.testserver..", "io.mortise.verification..")
          .should()
          .accessTargetWhere(
              new DescribedPredicate<JavaAccess<?>>("a thread inherits from its caller") {
                @Override
                public boolean test(JavaAccess<?> access) {
                  return access instanceof JavaCodeUnitAccess<?> call
                      && call.getTargetOwner().isEquivalentTo(Thread.class)
                      && call.getName().equals("<init>")
                      && call.getTarget().getRawParameterTypes().size() < 5;
                }
              })
          .because(
              "it would keep thread-locals and the class loader of a request that is long over;"
                  + " make it by DaemonThreads");

  /** Versions of texts differ between the members of a quorum. */
  private static final Set<String> WITHOUT_FACTS =
      Set.of("QuorumLockStore", "MemcachedLockStore", "ExpiringKeyStore");

  /** Once, latch and barrier are built on facts. This reminds authors of further stores. */
  static final ArchRule STORES_KEEP_FACTS =
      classes()
          .that()
          .implement(LockStore.class)
          .and()
          .areNotInterfaces()
          .and()
          .resideOutsideOfPackages(TOOLS)
          .and()
          .resideOutsideOfPackages("io.mortise.testkit..", "io.mortise.testserver..")
          .should(keepFacts())
          .because("only the members of a quorum have no version of a text in common");

  private Rules() {}

  private static boolean usesCommonPool(JavaCodeUnitAccess<?> call) {
    JavaClass owner = call.getTargetOwner();
    String name = call.getName();
    boolean isStage =
        owner.isAssignableTo(CompletionStage.class)
            && (name.endsWith("Async") || name.equals("delayedExecutor"))
            && call.getTarget().getRawParameterTypes().stream()
                .noneMatch(type -> type.isEquivalentTo(Executor.class));
    boolean isPool = owner.isAssignableTo(ForkJoinPool.class) && name.equals("commonPool");
    boolean isParallel =
        owner.getPackageName().startsWith("java.util") && name.startsWith("parallel");
    return isStage || isPool || isParallel;
  }

  /** Whether an overload takes a locale as its first or last parameter. */
  private static boolean followsTheLocale(JavaCodeUnitAccess<?> call) {
    List<String> given = typeNames(call.getTarget().getRawParameterTypes());
    return !FORMATS.contains(call.getName())
        && call.getTargetOwner().getPackageName().startsWith("java.")
        && call.getTargetOwner().getCodeUnits().stream()
            .filter(unit -> unit.getName().equals(call.getName()))
            .map(unit -> typeNames(unit.getRawParameterTypes()))
            .anyMatch(
                types ->
                    types.equals(withLocale(given, 0))
                        || types.equals(withLocale(given, given.size())));
  }

  private static List<String> typeNames(List<JavaClass> types) {
    return types.stream().map(JavaClass::getName).toList();
  }

  private static List<String> withLocale(List<String> types, int at) {
    List<String> all = new ArrayList<>(types);
    all.add(at, Locale.class.getName());
    return all;
  }

  private static String outermost(JavaClass type) {
    return type.getEnclosingClass().map(Rules::outermost).orElse(type.getSimpleName());
  }

  private static ArchRule seesNoOtherStore(String store) {
    String[] others =
        STORES.stream()
            .filter(other -> !other.equals(store))
            .map(other -> store.equals(CURATOR) && other.equals(ZOOKEEPER) ? other : other + "..")
            .toArray(String[]::new);
    return noClasses()
        .that()
        .resideInAPackage(store + "..")
        .should()
        .dependOnClassesThat()
        .resideInAnyPackage(others)
        .allowEmptyShould(true);
  }

  private static ArchCondition<JavaClass> keepFacts() {
    return new ArchCondition<>(
        "have 'readFact' and 'replaceFact' from a class, not from LockStore") {
      @Override
      public void check(JavaClass store, ConditionEvents events) {
        Set<String> own =
            store.getAllMethods().stream()
                .filter(method -> !method.getOwner().isEquivalentTo(LockStore.class))
                .map(JavaMember::getName)
                .collect(Collectors.toSet());
        if (!WITHOUT_FACTS.contains(store.getSimpleName())
            && !own.containsAll(Set.of("readFact", "replaceFact"))) {
          events.add(
              SimpleConditionEvent.violated(
                  store, store.getFullName() + " refuses facts, as LockStore does by default"));
        }
      }
    };
  }

  private static ArchCondition<JavaClass> haveNamesOfTheirOwn() {
    return new ArchCondition<>("have a simple name that no other type has") {
      private final Map<String, JavaClass> byName = new TreeMap<>();

      @Override
      public void check(JavaClass type, ConditionEvents events) {
        if (!TYPE_NAME.matcher(type.getSimpleName()).matches()
            || (type.isNestedClass() && EVERYWHERE.contains(type.getSimpleName()))) {
          return;
        }
        JavaClass first = byName.putIfAbsent(type.getSimpleName(), type);
        if (first != null) {
          events.add(
              SimpleConditionEvent.violated(
                  type, type.getFullName() + " has the name of " + first.getFullName()));
        }
      }
    };
  }

  private static ArchCondition<JavaClass> dependOnPublicPackagesOnly() {
    return new ArchCondition<>("depend on public packages only") {
      @Override
      public void check(JavaClass type, ConditionEvents events) {
        for (Dependency dependency : type.getDirectDependenciesFromSelf()) {
          JavaClass target = dependency.getTargetClass().getBaseComponentType();
          String name = target.getPackageName();
          boolean ours = name.equals("io.mortise") || name.startsWith("io.mortise.");
          boolean shared =
              Arrays.stream(TOOLS).anyMatch(tool -> name.startsWith(rootOf(tool)))
                  && (!name.contains(".internal") || isOfOneTool(type.getPackageName(), name));
          if (ours && !shared && !PUBLIC.contains(name)) {
            events.add(SimpleConditionEvent.violated(dependency, dependency.getDescription()));
          }
        }
      }
    };
  }

  private static boolean isOfOneTool(String one, String other) {
    return Arrays.stream(TOOLS)
        .map(Rules::rootOf)
        .anyMatch(root -> one.startsWith(root) && other.startsWith(root));
  }

  /** The package without the dots that stand for those below it. */
  private static String rootOf(String tool) {
    return tool.substring(0, tool.length() - 2);
  }

  /** Each package is a slice of its own. */
  private static final class Packages implements SliceAssignment {
    @Override
    public SliceIdentifier getIdentifierOf(JavaClass type) {
      return type.getPackageName().startsWith("io.mortise")
          ? SliceIdentifier.of(type.getPackageName())
          : SliceIdentifier.ignore();
    }

    @Override
    public String getDescription() {
      return "packages";
    }
  }

  /** The files of the engine, each with all types in it. */
  private static final class EngineTypes implements SliceAssignment {
    @Override
    public SliceIdentifier getIdentifierOf(JavaClass type) {
      return type.getPackageName().startsWith("io.mortise.internal.engine")
          ? SliceIdentifier.of(type.getName().split("\\$", 2)[0])
          : SliceIdentifier.ignore();
    }

    @Override
    public String getDescription() {
      return "types of the engine";
    }
  }
}
