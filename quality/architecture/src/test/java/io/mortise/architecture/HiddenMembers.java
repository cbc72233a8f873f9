package io.mortise.architecture;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaCodeUnit;
import com.tngtech.archunit.core.domain.JavaConstructor;
import com.tngtech.archunit.core.domain.JavaField;
import com.tngtech.archunit.core.domain.JavaMember;
import com.tngtech.archunit.core.domain.JavaMethod;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.lang.ArchCondition;
import com.tngtech.archunit.lang.ArchRule;
import com.tngtech.archunit.lang.ConditionEvents;
import com.tngtech.archunit.lang.SimpleConditionEvent;
import java.util.Arrays;
import java.util.Set;
import java.util.stream.Stream;

/**
 * Members of unexported packages are public for other packages of the library only. Tests need no
 * public members: they stand in the package of the type under test.
 */
final class HiddenMembers {
  /** Exceptions. Each entry needs a reason beside it. */
  private static final Set<String> EXCUSED =
      Set.of(
          // The drivers of PostgreSQL and MariaDB make them by their names.
          "io.mortise.jdbc.driver.EagerSocketFactory",
          "io.mortise.jdbc.driver.ReplyTimeoutSocketFactory",
          // ServiceLoader makes them.
          "io.mortise.internal.client.EngineClientBuilder",
          "io.mortise.recipe.engine.EngineRecipeProvider",
          "io.mortise.support.memory.MemStoreProvider",
          "io.mortise.support.outer.OuterLockStoreProvider",
          // Tests of other modules make clients and stores in memory, and break their sessions.
          "io.mortise.internal.client.EngineClient.<init>",
          "io.mortise.internal.client.EngineClient.engine",
          "io.mortise.support.liveness.ForwardingSession",
          "io.mortise.support.memory.MemLockTable",
          "io.mortise.support.memory.MemStore.<init>",
          "io.mortise.support.memory.MemStore.connected",
          "io.mortise.support.memory.MemStore.forget",
          // Module simulation has no threads to block, and counts the objects of an engine.
          "io.mortise.internal.engine.Engine.extendAsync",
          "io.mortise.internal.engine.Engine.keepShutAsync",
          "io.mortise.internal.engine.Engine.downgradeAsync",
          "io.mortise.internal.engine.Engine.footprint");

  static final ArchRule CLOSED =
      classes()
          .that(
              new DescribedPredicate<>("no module exports") {
                @Override
                public boolean test(JavaClass type) {
                  return isHidden(type.getPackageName());
                }
              })
          .should(beAsClosedAsTheyCanBe())
          .because(
              "readers look for the users of a public member everywhere; leave out 'public', and"
                  + " move a test that needs the member to its package");

  private HiddenMembers() {}

  private static boolean isHidden(String name) {
    return !Rules.PUBLIC.contains(name)
        && !name.startsWith("io.mortise.verification")
        && Arrays.stream(Rules.TOOLS).noneMatch(tool -> (name + "..").startsWith(cut(tool)));
  }

  private static String cut(String tool) {
    return tool.substring(0, tool.length() - 2);
  }

  private static ArchCondition<JavaClass> beAsClosedAsTheyCanBe() {
    return new ArchCondition<>("have public members for other packages only") {
      @Override
      public void check(JavaClass type, ConditionEvents events) {
        if (isPublic(type) && !EXCUSED.contains(type.getFullName()) && !isSeen(type)) {
          violated(type, type.getFullName(), events);
        }
        if (type.isInterface() || EXCUSED.contains(type.getFullName())) {
          return;
        }
        type.getMembers().stream()
            .filter(HiddenMembers::isOpen)
            .filter(member -> !isUsed(member))
            .forEach(member -> violated(member, member.getFullName(), events));
      }
    };
  }

  private static void violated(Object offender, String name, ConditionEvents events) {
    events.add(
        SimpleConditionEvent.violated(
            offender, name + " is public, and no other package of the library uses it"));
  }

  private static boolean isPublic(JavaClass type) {
    return type.getModifiers().contains(JavaModifier.PUBLIC)
        && !type.getSimpleName().equals("package-info")
        // A lambda does not name its interface.
        && !type.isInterface()
        && type.getEnclosingClass().map(outer -> !outer.isInterface()).orElse(true);
  }

  /** Whether another package refers to it, be it only for a type within it. */
  private static boolean isSeen(JavaClass type) {
    return type.getDirectDependenciesToSelf().stream()
        .anyMatch(
            dependency ->
                !dependency.getOriginClass().getPackageName().equals(type.getPackageName()));
  }

  private static boolean isOpen(JavaMember member) {
    Set<JavaModifier> modifiers = member.getModifiers();
    return modifiers.contains(JavaModifier.PUBLIC)
        && !modifiers.contains(JavaModifier.SYNTHETIC)
        && !EXCUSED.contains(member.getOwner().getFullName() + "." + member.getName())
        && !(member instanceof JavaField field && isInlined(field))
        && !member.getOwner().isEnum()
        // The compiler makes these as open as the record.
        && !(member.getOwner().isRecord() && !(member instanceof JavaMethod));
  }

  /** Its users do not name it in their classes. */
  private static boolean isInlined(JavaField field) {
    return field.getModifiers().contains(JavaModifier.STATIC)
        && field.getModifiers().contains(JavaModifier.FINAL)
        && (field.getRawType().isPrimitive() || field.getRawType().isEquivalentTo(String.class));
  }

  private static boolean isUsed(JavaMember member) {
    return accesses(member).anyMatch(origin -> !origin.equals(member.getOwner().getPackageName()))
        || (member instanceof JavaMethod method && isGiven(method));
  }

  private static Stream<String> accesses(JavaMember member) {
    Stream<String> accesses =
        member.getAccessesToSelf().stream().map(access -> access.getOriginOwner().getPackageName());
    return member instanceof JavaConstructor || member instanceof JavaField
        ? accesses
        : Stream.concat(
            accesses,
            ((JavaMethod) member)
                .getReferencesToSelf().stream()
                    .map(reference -> reference.getOriginOwner().getPackageName()));
  }

  /** Whether a supertype, of it or of a subclass, has it, or a subclass elsewhere overrides it. */
  private static boolean isGiven(JavaMethod method) {
    JavaClass owner = method.getOwner();
    return (owner.isRecord() && method.getParameters().isEmpty())
        || Stream.concat(Stream.of(owner), owner.getAllSubclasses().stream())
            .flatMap(
                type ->
                    Stream.concat(
                        type.getAllRawSuperclasses().stream(), type.getAllRawInterfaces().stream()))
            .filter(type -> !type.equals(owner))
            .anyMatch(type -> has(type, method))
        || owner.getAllSubclasses().stream()
            .anyMatch(
                type -> !type.getPackageName().equals(owner.getPackageName()) && has(type, method));
  }

  private static boolean has(JavaClass type, JavaMethod method) {
    return type.getMethods().stream()
        .map(JavaCodeUnit.class::cast)
        .anyMatch(
            other ->
                other.getName().equals(method.getName())
                    && other.getRawParameterTypes().size() == method.getRawParameterTypes().size());
  }
}
