import datetime

from django.db import migrations, models


def fill(apps, schema_editor):
    """What was verified before counts as long as it does by default."""
    rows = apps.get_model("checks", "Evidence").objects.filter(state="verified").exclude(verified_at=None)
    rows.update(counts_until=models.F("verified_at") + datetime.timedelta(hours=2))


class Migration(migrations.Migration):
    dependencies = [("checks", "0004_ordered_history")]

    operations = [
        migrations.AddField(
            model_name="evidence",
            name="counts_until",
            field=models.DateTimeField(null=True),
        ),
        migrations.AddIndex(
            model_name="evidence",
            index=models.Index(fields=["id"], condition=models.Q(verified_at=None), name="evidence_never_read"),
        ),
        migrations.RunPython(fill, migrations.RunPython.noop),
    ]
